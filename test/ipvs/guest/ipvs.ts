import { expect, test, vi } from "vitest";
import { endpointSchema } from "../../../src/core/model/endpoint.ts";
import { listenerSchema } from "../../../src/core/model/listener.ts";
import type { ModelObject } from "../../../src/core/model/object.ts";
import { serviceSchema } from "../../../src/core/model/service.ts";
import { TOPOLOGY, type WorkloadName } from "../../../src/core/route/scenarios/topology.ts";
import { parseGreeting } from "../../netns/greeting.ts";
import { Lines } from "../../netns/namespace-lines.ts";
import { endpoint, NODE_IPS, service } from "../../netns/play.ts";
import { Machine } from "./machine.ts";

const { clusterIP, listenPort, port, targetPort, outside } = TOPOLOGY;
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
  // What is made anew begins to count at 0.
  const call = { party: "outside", protocol: "TCP", from: outside.v4, port } as const;
  await machine.stage.call([{ ...call, to: clusterIP.v4 }]);
  const count = (): string | undefined =>
    new RegExp(`TCP +${clusterIP.v4}:${port} +(\\d+)`).exec(
      machine.run("ipvsadm", "-Ln", "--stats"),
    )?.[1];
  await vi.waitFor(() => expect(count()).toBe("1"), { timeout: FORGETTING_MS });
  await machine.restart();
  await machine.apply(...objects);
  expect(machine.state()).toBe(before);
  expect(count()).toBe("1");
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
  const udpBy = async (workload: WorkloadName): Promise<boolean> => {
    const [outcome] = await machine.stage.call([UDP_CALL]);
    const by = outcome?.kind === "answered" ? parseGreeting(outcome.text).at : outcome?.kind;
    return by === TOPOLOGY.workloads[workload].addresses.v4;
  };
  await machine.apply(...objects, ...udpThroughListener("web-a"));
  expect(await isServed()).toBe(true);
  expect(await udpBy("web-a")).toBe(true);
  const rules = machine.run("iptables-legacy-save");
  expect(rules).toContain("KUBE-SVC-");
  expect(rules).not.toContain("KUBE-IPVS-");
  await machine.restart();
  // The flow that the rules of iptables began would still be led by what the kernel remembers of it.
  await machine.apply(...objects, ...udpThroughListener("web-b"));
  expect(await isServed()).toBe(true);
  expect(await udpBy("web-b")).toBe(true);
  expect(machine.run("iptables-legacy-save")).not.toContain("KUBE-SVC-");
});

const UDP_CALL = {
  party: "outside",
  protocol: "UDP",
  from: outside.v4,
  fromPort: 41_000,
  to: NODE_IPS.v4,
  port: listenPort,
} as const;

function udpThroughListener(workload: WorkloadName): readonly ModelObject[] {
  return [
    serviceSchema.parse({
      kind: "Service",
      name: "dns",
      ports: [{ name: "main", protocol: "UDP", port, targetPort }],
    }),
    endpoint(workload, { name: "dns", group: "dns" }),
    listenerSchema.parse({
      kind: "Listener",
      name: "front",
      mode: "udp",
      address: NODE_IPS.v4,
      port: listenPort,
      service: "default/dns",
    }),
  ];
}

test("schedulers by annotation, persistence, time-outs and strict ARP", async () => {
  const machine = await Machine.open({ ipvsStrictArp: "true", ipvsUdpTimeout: "77s" });
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
  const arp = ["ignore", "announce"].map((name) => `/proc/sys/net/ipv4/conf/all/arp_${name}`);
  expect(machine.run("cat", ...arp)).toBe("1\n2\n");
  expect(machine.run("ipvsadm", "-l", "--timeout")).toContain("900 120 77");
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
