import { expect, test, vi } from "vitest";
import { endpointSchema } from "../../../src/core/model/endpoint.ts";
import { serviceSchema } from "../../../src/core/model/service.ts";
import { TOPOLOGY } from "../../../src/core/route/scenarios/topology.ts";
import { Lines } from "../../netns/namespace-lines.ts";
import { endpoint, service } from "../../netns/play.ts";
import { Machine } from "./machine.ts";

const { clusterIP, port, targetPort, outside } = TOPOLOGY;
const ECHO_PORT = 7777;

const ECHO = `require("node:net").createServer((socket) => socket.on("error", () => undefined).pipe(socket)).listen(${ECHO_PORT}, () => console.log("serving"))`;
const CLIENT = `const socket = require("node:net").connect(${port}, "${clusterIP.v4}", () => console.log("connected")); process.stdin.on("data", (data) => (String(data) === "end\\n" ? socket.resetAndDestroy() : socket.write(data))); socket.pipe(process.stdout, { end: false }); socket.on("close", () => console.log("ended"))`;
/** IPVS remembers a connection that was reset for ten seconds. */
const FORGETTING_MS = 20_000;
const ECHO_SERVICE = service({
  clusterIPs: [clusterIP.v4],
  ports: [{ name: "main", port, targetPort: ECHO_PORT }],
});
const [WEB_A, WEB_B] = [endpoint("web-a"), endpoint("web-b")];
const real = (name: "web-a" | "web-b", weight: number): string =>
  `TCP ${clusterIP.v4}:${port} -> ${TOPOLOGY.workloads[name].addresses.v4}:${ECHO_PORT} weight ${weight}`;

test("an endpoint that goes keeps its connection, takes no new ones, and is removed at their end", async () => {
  const machine = await Machine.open({ ipvsSyncPeriod: "1s", ipvsTcpfinTimeout: "1s" });
  const { network } = machine.stage;
  expect(await new Lines(network, "web-a", ECHO).next()).toBe("serving");
  await machine.apply(ECHO_SERVICE, WEB_A);
  const client = new Lines(network, "outside", CLIENT);
  expect(await client.next()).toBe("connected");
  await machine.apply(ECHO_SERVICE, WEB_B);
  expect(machine.weights().sort()).toEqual([real("web-a", 0), real("web-b", 1)]);
  expect(await client.ask("still there")).toBe("still there");
  // It comes back before its connection ended: the same real server is used again.
  await machine.apply(ECHO_SERVICE, WEB_A, WEB_B);
  expect(machine.weights().sort()).toEqual([real("web-a", 1), real("web-b", 1)]);
  expect(await client.ask("and again")).toBe("and again");
  await machine.apply(ECHO_SERVICE, WEB_B);
  expect(machine.weights().sort()).toEqual([real("web-a", 0), real("web-b", 1)]);
  // The last one goes, too: the connection goes on, and others are refused.
  await machine.apply(ECHO_SERVICE);
  expect(machine.weights()).toContain(real("web-a", 0));
  expect(await client.ask("alone")).toBe("alone");
  const call = {
    party: "outside",
    protocol: "TCP",
    from: outside.v4,
    to: clusterIP.v4,
    port,
  } as const;
  expect((await machine.stage.call([call]))[0]?.kind).toBe("refused");
  expect(await client.ask("end")).toBe("ended");
  await vi.waitFor(() => expect(machine.weights()).toEqual([]), { timeout: FORGETTING_MS });
});

test("weights that a crash left at 0 are put right at start", async () => {
  const machine = await Machine.open();
  await machine.apply(ECHO_SERVICE, WEB_A, WEB_B);
  const there = `${clusterIP.v4}:${port}`;
  for (const line of machine.weights()) {
    const to = /-> (\S+)/.exec(line)?.[1] ?? "";
    machine.run("ipvsadm", "-e", "-t", there, "-r", to, "-m", "-w", "0");
  }
  await machine.restart();
  await machine.apply(ECHO_SERVICE, WEB_A, WEB_B);
  expect(machine.weights().sort()).toEqual([real("web-a", 1), real("web-b", 1)]);
});

test("a restart with the same state changes nothing; one half-way through is made whole", async () => {
  const machine = await Machine.open();
  const objects = [
    service({ type: "NodePort", ports: [{ name: "main", port, targetPort, nodePort: 30_080 }] }),
    endpoint("web-a"),
    endpoint("web-b"),
  ];
  await machine.apply(...objects);
  const before = machine.state();
  await machine.restart();
  await machine.apply(...objects);
  expect(machine.state()).toBe(before);
  // As if it had ended between two patch groups.
  machine.run("ipvsadm", "-D", "-t", `${clusterIP.v4}:${port}`);
  machine.run("ipset", "flush", "KUBE-NODE-PORT");
  machine.run("ip", "address", "delete", `${clusterIP.v4}/32`, "dev", "kube-ipvs0");
  await machine.restart();
  await machine.apply(...objects);
  expect(machine.state()).toBe(before);
});

test("foreign virtual servers in excluded networks survive; others go; clean-up leaves them, too", async () => {
  const machine = await Machine.open({ ipvsExcludeCidrs: ["192.0.2.0/24"] });
  machine.run("ipvsadm", "-A", "-t", "192.0.2.1:80", "-s", "rr");
  machine.run("ipvsadm", "-A", "-t", "198.51.100.1:80", "-s", "rr");
  machine.run("ipvsadm", "-A", "-f", "77", "-s", "rr");
  await machine.apply(ECHO_SERVICE, WEB_A);
  const listed = machine.run("ipvsadm", "-Sn");
  expect(listed).toContain("-A -t 192.0.2.1:80");
  expect(listed).toContain("-A -f 77");
  expect(listed).not.toContain("198.51.100.1");
  await machine.backend.close();
  expect(machine.run("ipvsadm", "-Sn").trim().split("\n").sort()).toEqual([
    "-A -f 77 -s rr",
    "-A -t 192.0.2.1:80 -s rr",
  ]);
  expect(machine.run("ipset", "list", "-n")).toBe("");
  expect(machine.run("iptables-legacy-save")).not.toContain("KUBE");
  expect(machine.run("ip", "-br", "link")).not.toContain("kube-ipvs0");
});

test("what the kernel refuses of one service holds up no other", async () => {
  const machine = await Machine.open();
  // No machine can have this address.
  const bad = serviceSchema.parse({
    kind: "Service",
    name: "bad",
    externalIPs: ["ff02::66"],
    clusterIPs: ["10.96.0.66"],
    ports: [{ name: "main", port, targetPort }],
  });
  const good = service();
  await expect(machine.apply(bad, good, endpoint("web-a"))).rejects.toThrow("ff02::66");
  const call = {
    party: "outside",
    protocol: "TCP",
    from: outside.v4,
    to: clusterIP.v4,
    port,
  } as const;
  expect((await machine.stage.call([call]))[0]?.kind).toBe("answered");
  await machine.apply(good, endpoint("web-a"));
});

test("from IPVS to iptables and back without a clean-up: each removes the other's chains", async () => {
  const machine = await Machine.open();
  const objects = [service({ affinitySeconds: 0 }), endpoint("web-a")];
  const call = {
    party: "outside",
    protocol: "TCP",
    from: outside.v4,
    to: clusterIP.v4,
    port,
  } as const;
  const isServed = async (): Promise<boolean> =>
    (await machine.stage.call([call]))[0]?.kind === "answered";
  await machine.apply(...objects);
  expect(await isServed()).toBe(true);
  await machine.restart("iptables");
  await machine.apply(...objects);
  expect(await isServed()).toBe(true);
  const rules = machine.run("iptables-legacy-save");
  expect(rules).toContain("KUBE-SVC-");
  expect(rules).not.toContain("KUBE-IPVS-");
  await machine.restart();
  await machine.apply(...objects);
  expect(await isServed()).toBe(true);
  expect(machine.run("iptables-legacy-save")).not.toContain("KUBE-SVC-");
});

test("schedulers by annotation, persistence and strict ARP", async () => {
  const machine = await Machine.open({ ipvsStrictArp: "true" });
  const names = ["rr", "wrr", "lc", "wlc", "sh", "mh", "sed", "nq"];
  const services = names.map((name, index) =>
    serviceSchema.parse({
      kind: "Service",
      name,
      annotations: { "portolan/ipvs-scheduler": name },
      clusterIPs: [`10.96.1.${index + 1}`],
      affinitySeconds: index === 0 ? 600 : 0,
      ports: [{ name: "main", port, targetPort }],
    }),
  );
  const ends = names.map((group) => endpoint("web-a", { name: `web-${group}`, group }));
  await machine.apply(...services, ...ends);
  const listed = machine.run("ipvsadm", "-Sn");
  names.forEach((name, index) => {
    expect(listed).toContain(
      `-A -t 10.96.1.${index + 1}:80 -s ${name}${index === 0 ? " -p 600" : ""}`,
    );
  });
  expect(machine.run("cat", "/proc/sys/net/ipv4/conf/all/arp_ignore").trim()).toBe("1");
});

test("a thousand services, read back by the tools", async () => {
  const machine = await Machine.open();
  const ips = Array.from({ length: 1000 }, (_, index) => `10.97.${index >> 8}.${index & 255}`);
  const objects = ips.flatMap((ip, index) => [
    serviceSchema.parse({
      kind: "Service",
      name: `s${index}`,
      clusterIPs: [ip],
      ports: [{ name: "main", port, targetPort }],
    }),
    ...[1, 2].map((host) =>
      endpointSchema.parse({
        kind: "Endpoint",
        name: `e${index}-${host}`,
        group: `s${index}`,
        addresses: [`10.244.${host}.${index % 250}`],
        node: "node-b",
      }),
    ),
  ]);
  await machine.apply(...objects);
  const servers = machine.run("ipvsadm", "-Ln");
  expect(servers.match(/^TCP /gm)).toHaveLength(1000);
  expect(servers.match(/-> 10\.244/g)).toHaveLength(2000);
  expect(machine.run("ipset", "list", "KUBE-CLUSTER-IP").match(/,tcp:80$/gm)).toHaveLength(1000);
  expect(machine.run("ip", "address", "show", "kube-ipvs0").match(/inet 10\.97/g)).toHaveLength(
    1000,
  );
  await machine.apply();
  expect(machine.run("ipvsadm", "-Ln")).not.toContain("10.97.");
});
