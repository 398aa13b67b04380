import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { TOPOLOGY } from "../../../src/core/route/scenarios/topology.ts";
import { endpoint, NODE_IPS, service } from "../../netns/play.ts";
import { Machine } from "./machine.ts";

const { clusterIP, outside, port, targetPort, workloads, node } = TOPOLOGY;
const MAIN = join(process.cwd(), "dist/cli/main.js");

/** What the built program prints; its exit code stands before it. */
function portolan(machine: Machine, ...args: readonly string[]): string {
  return machine.run(
    "sh",
    "-c",
    '"$0" "$@" 2>&1; echo "exit code $?"',
    process.execPath,
    MAIN,
    ...args,
  );
}

/** The same as `service` and `endpoint` make, for the source of files. */
const MANIFESTS = {
  apiVersion: "v1",
  kind: "List",
  items: [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web", namespace: "default" },
      spec: { clusterIPs: [clusterIP.v4], ports: [{ name: "main", port, targetPort }] },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        name: "web-1",
        namespace: "default",
        labels: { "kubernetes.io/service-name": "web" },
      },
      addressType: "IPv4",
      ports: [{ name: "main", port: targetPort }],
      endpoints: (["web-a", "web-b"] as const).map((name) => ({
        addresses: [workloads[name].addresses.v4],
      })),
    },
  ],
};

test("explain --live finds all in order, and shows what somebody altered by hand", async () => {
  // Nothing is put right meanwhile.
  const machine = await Machine.open({ ipvsSyncPeriod: "1h" });
  const state = stateFile();
  await machine.apply(service(), endpoint("web-a"), endpoint("web-b"));
  const there = `${clusterIP.v4}:${port}`;
  const altered = `${workloads["web-b"].addresses.v4}:${targetPort}`;
  const explain = (): string =>
    portolan(
      machine,
      ...["explain", "--from", `file:${state}`, "--node", node, "--backend", "ipvs", "--live"],
      ...["--src", outside.v4, "--dst", there],
    );
  const asWanted = explain();
  expect(asWanted).toContain("It does as the reference says");
  expect(asWanted).not.toContain("not known");
  expect(asWanted).toMatch(/exit code 0\n$/);
  machine.run("ipvsadm", "-e", "-t", there, "-r", altered, "-m", "-w", "3");
  const shares = explain();
  expect(shares).toContain(`to ${altered} with weight 3`);
  expect(shares).toMatch(new RegExp(`${altered}.*: 75 %, where the reference says 50 %`));
  expect(shares).toMatch(/exit code 1\n$/);
  machine.run("ipset", "add", "KUBE-IPVS-REJECT", `${clusterIP.v4},tcp:${port}`);
  expect(explain()).toContain("reject: 100 %, where the reference says 0 %");
});

/** A file that holds `MANIFESTS` until the test ends. */
function stateFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-live-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const state = join(folder, "state.json");
  writeFileSync(state, JSON.stringify(MANIFESTS));
  return state;
}

const METRICS = "127.0.0.1:10249";
const SCRAPE = `fetch("http://${METRICS}/metrics").then((answer) => answer.text()).then(console.log)`;

/** The first number of a metric of this backend; NaN where there is none. */
function metric(scraped: string, name: string): number {
  return Number(new RegExp(`^portolan_ipvs_${name}\\{[^}]*\\} (\\d+)$`, "m").exec(scraped)?.[1]);
}

test("the program's metrics tell what services were called, as the kernel counted it", async () => {
  const machine = await Machine.open();
  await machine.backend.close();
  const child = machine.stage.network.inside("node-a", () =>
    spawn(
      process.execPath,
      [
        ...[MAIN, "run", "--from", `file:${stateFile()}`, "--to", "ipvs", "--node", node],
        ...["--iptables-mode", "legacy", "--metrics-listen", METRICS],
      ],
      { stdio: "inherit" },
    ),
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  // Addresses come last.
  const addresses = (): string => machine.run("ip", "-o", "address");
  await vi.waitFor(() => expect(addresses()).toContain(clusterIP.v4), { timeout: 60_000 });
  const call = { party: "outside", protocol: "TCP", from: outside.v4 } as const;
  const calls = [1, 2, 3].map(() => ({ ...call, to: clusterIP.v4, port }));
  const answers = await machine.stage.call(calls);
  expect(answers.map(({ kind }) => kind)).toEqual(["answered", "answered", "answered"]);
  // The kernel adds up what it counted every two seconds, and the last packets may come after the answers.
  const text = await vi.waitFor(
    () => {
      const scraped = machine.run(process.execPath, "-e", SCRAPE);
      expect(scraped).toContain(
        'portolan_ipvs_service_connections_total{backend="ipvs",service="default/web"} 3',
      );
      for (const which of ["packets_in", "packets_out", "bytes_in", "bytes_out"]) {
        expect(metric(scraped, `service_${which}_total`), which).toBeGreaterThan(3);
      }
      return scraped;
    },
    { timeout: 60_000 },
  );
  expect(metric(text, "virtual_servers")).toBe(1);
  expect(metric(text, "real_servers")).toBe(2);
  expect(metric(text, "patch_groups_total")).toBe(1);

  // It leaves what serves, for the one that comes next; the clean-up leaves nothing.
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
  expect(machine.weights()).toHaveLength(2);
  expect(portolan(machine, "cleanup", "--to", "ipvs")).toMatch(/exit code 0\n$/);
  expect(machine.run("ipvsadm", "-Sn")).toBe("");
  expect(machine.run("ipset", "list", "-n")).toBe("");
  expect(machine.run("iptables-legacy-save")).not.toContain("KUBE");
  expect(machine.run("ip", "-br", "link")).not.toContain("kube-ipvs0");
});

/** What kube-proxy 1.30 in mode IPVS has for one service with a node port, and what others have. */
const KUBE_PROXY = {
  link: `link add kube-ipvs0 type dummy
address add ${clusterIP.v4}/32 dev kube-ipvs0
address add ${clusterIP.v6}/128 dev kube-ipvs0 nodad
`,
  sets: `create KUBE-CLUSTER-IP hash:ip,port family inet
add KUBE-CLUSTER-IP ${clusterIP.v4},tcp:80
create KUBE-6-CLUSTER-IP hash:ip,port family inet6
add KUBE-6-CLUSTER-IP ${clusterIP.v6},tcp:80
create KUBE-NODE-PORT-TCP bitmap:port range 0-65535
add KUBE-NODE-PORT-TCP 30080
create KUBE-6-NODE-PORT-LOCAL-SCTP-HAS hash:ip,port family inet6
create KUBE-MINE hash:ip family inet
create others hash:ip family inet
`,
  servers: `-A -t ${clusterIP.v4}:80 -s rr
-a -t ${clusterIP.v4}:80 -r 10.244.1.2:8080 -m -w 1
-A -t [${clusterIP.v6}]:80 -s rr
-A -t ${NODE_IPS.v4}:30080 -s rr
-A -t ${NODE_IPS.v4}:8443 -s rr
-A -t 198.51.100.7:30080 -s rr
-A -f 77 -s rr
`,
  rules: `*nat
:KUBE-SERVICES - [0:0]
:KUBE-NODE-PORT - [0:0]
:KUBE-MARK-DROP - [0:0]
:MINE - [0:0]
-A PREROUTING -j KUBE-SERVICES
-A PREROUTING -j MINE
-A KUBE-SERVICES -m set --match-set KUBE-CLUSTER-IP dst,dst -j ACCEPT
-A KUBE-SERVICES -j KUBE-NODE-PORT
-A KUBE-NODE-PORT -p tcp -m set --match-set KUBE-NODE-PORT-TCP dst -j ACCEPT
-A MINE -m set --match-set others src -j RETURN
COMMIT
`,
} as const;

test("cleanup --kube-proxy removes what its mode IPVS left, and nothing else", async () => {
  const machine = await Machine.open();
  await machine.backend.close();
  machine.feed(KUBE_PROXY.link, "ip", "-batch", "-");
  machine.feed(KUBE_PROXY.sets, "ipset", "restore");
  machine.feed(KUBE_PROXY.servers, "ipvsadm", "-R");
  machine.feed(KUBE_PROXY.rules, "iptables-legacy-restore", "--noflush");
  expect(portolan(machine, "cleanup", "--kube-proxy")).toBe(
    "kube-proxy: nothing is left\nexit code 0\n",
  );
  expect(machine.run("ipvsadm", "-Sn").trim().split("\n").sort()).toEqual([
    "-A -f 77 -s rr",
    `-A -t ${NODE_IPS.v4}:8443 -s rr`,
    "-A -t 198.51.100.7:30080 -s rr",
  ]);
  expect(machine.run("ipset", "list", "-n").trim().split("\n").sort()).toEqual([
    "KUBE-MINE",
    "others",
  ]);
  expect(machine.run("ip", "-br", "link")).not.toContain("kube-ipvs0");
  const rules = machine.run("iptables-legacy-save", "-t", "nat");
  expect([...new Set(rules.match(/KUBE-[A-Z-]+|MINE/g))].sort()).toEqual([
    "KUBE-MARK-DROP",
    "MINE",
  ]);
});
