import { beforeEach, expect, test } from "vitest";
import { endpointSchema } from "../../core/model/endpoint.ts";
import { nodeSchema } from "../../core/model/node.ts";
import { serviceSchema } from "../../core/model/service.ts";
import type { Packet } from "../../core/route/packet.ts";
import { route } from "../../core/route/route.ts";
import { DEFAULT_ROUTE_POLICY } from "../../core/route/route-policy.ts";
import { globalStateOf } from "../../core/route/scenarios/scenario.ts";
import type { VirtualServer } from "../../wire/netlink/ipvs/virtual-server.ts";
import { explainIpvs } from "./explain-live.ts";
import { FakeMachine } from "./fake-machine.fixture.ts";
import { setsOf } from "./glue/set-names.ts";

const NODE = "node-a";
const BALANCER = "203.0.113.20";
const ports = [{ name: "main", port: 80, targetPort: 8080 }];
const end = (name: string, node: string, ip: string, weight: number) =>
  endpointSchema.parse({ kind: "Endpoint", name, group: "web", node, addresses: [ip], weight });
const OBJECTS = [
  nodeSchema.parse({ kind: "Node", name: NODE, addresses: ["192.168.100.1"] }),
  serviceSchema.parse({
    kind: "Service",
    name: "web",
    type: "LoadBalancer",
    clusterIPs: ["10.96.0.10"],
    loadBalancerIPs: [BALANCER],
    sourceRanges: ["192.0.2.0/24", "192.168.100.1/32"],
    externalTrafficPolicy: "Local",
    ports,
  }),
  end("here", NODE, "10.244.1.12", 1),
  end("there", "node-b", "10.244.2.12", 3),
];
const POLICY = { ...DEFAULT_ROUTE_POLICY, masqueradeAll: true };

const OUTSIDE: Packet = {
  from: "outside",
  src: "192.0.2.9",
  srcPort: 40_000,
  dst: BALANCER,
  dstPort: 80,
  protocol: "TCP",
};
const KEPT_OUT: Packet = { ...OUTSIDE, src: "198.51.100.9" };
const TO_CLUSTER_IP: Packet = { ...OUTSIDE, dst: "10.96.0.10" };

let machine = new FakeMachine();

beforeEach(async () => {
  machine = new FakeMachine();
  await machine.program(NODE, POLICY, OBJECTS);
});

async function explain(packet: Packet) {
  const answer = await explainIpvs(packet, machine.platform, machine);
  const verdict = route({ global: globalStateOf(OBJECTS), node: NODE }, packet, POLICY, {});
  return { lines: answer.lines, differences: answer.differencesFrom(verdict) };
}

test("sets, virtual and real servers, and the rules that a packet meets are told", async () => {
  const { lines, differences } = await explain(OUTSIDE);
  expect(differences).toEqual([]);
  expect(lines.slice(0, 3)).toEqual([
    "203.0.113.20:80 is in KUBE-LOAD-BALANCER-LOCAL, KUBE-LOAD-BALANCER-FW, KUBE-IPVS-INSIDE",
    "virtual server TCP 203.0.113.20:80, wrr, 0 connections so far",
    "  to 10.244.1.12:8080 with weight 1, 0 active and 0 other connections",
  ]);
  expect(lines[3]).toMatch(/^virtual server v4 mark 0x[0-9a-f]+, for insiders, wrr, /);
  expect(lines).toContain("  KUBE-LOAD-BALANCER-SOURCE-CIDR: 203.0.113.20,tcp:80,192.0.2.0/24");
  const taken = lines.indexOf("IPVS at input: virtual server TCP 203.0.113.20:80");
  expect(lines[taken + 1]).toBe("TCP 203.0.113.20:80: to 10.244.1.12:8080 with weight 1");
  expect(lines[taken + 2]).toContain(" mangle OUTPUT: ");
  expect(lines.at(-1)).toBe("100 %: 10.244.1.12:8080");
});

test("who is kept out by source ranges is no alarm", async () => {
  const { lines, differences } = await explain(KEPT_OUT);
  expect(differences).toEqual([]);
  expect(lines.at(-1)).toBe("100 %: drop");
});

test("this node itself comes to all endpoints, by the mark of insiders", async () => {
  const { lines, differences } = await explain({ ...OUTSIDE, from: "node", src: "192.168.100.1" });
  expect(differences).toEqual([]);
  expect(lines.join("\n")).toContain("75 %: 10.244.2.12:8080 masqueraded");
});

test("calls of other ports are rejected, which is no alarm; what is not at a service's address is left", async () => {
  expect((await explain({ ...OUTSIDE, dstPort: 81 })).differences).toEqual([]);
  const { lines, differences } = await explain({ ...OUTSIDE, dst: "198.51.100.1" });
  expect(differences).toEqual([]);
  expect(lines.slice(0, 2)).toEqual([
    "198.51.100.1:80 is in no set",
    "no virtual server is there for it",
  ]);
});

test("virtual servers of another protocol at the same place are not for it", async () => {
  const { lines } = await explain({ ...OUTSIDE, protocol: "UDP" });
  expect(lines.slice(0, 2)).toEqual([
    "203.0.113.20:80 is in no set",
    "no virtual server is there for it",
  ]);
});

const CALL = { ip: BALANCER, protocol: "TCP", port: 80 } as const;
const flush = (chain: string) => (text: string) =>
  text.replace(new RegExp(`^-A ${chain} .*\n`, "gm"), "");
const serverAt = (ip: string): VirtualServer | undefined =>
  [...machine.kernel.servers.values()].find(({ place }) => "ip" in place && place.ip === ip);

/** What somebody may do by hand, a packet for which that matters, and what becomes of it then. */
const ALTERATIONS: Readonly<Record<string, readonly [() => unknown, Packet, string]>> = {
  "an entry in KUBE-IPVS-REJECT": [
    () => machine.platform.sets.change([{ kind: "add", set: setsOf("v4").rejected, entry: CALL }]),
    OUTSIDE,
    "reject: 100 %, where the reference says 0 %",
  ],
  "an entry in KUBE-IPVS-DROP-OUTSIDE": [
    () =>
      machine.platform.sets.change([
        { kind: "add", set: setsOf("v4").droppedOutside, entry: CALL },
      ]),
    OUTSIDE,
    "drop: 100 %, where the reference says 0 %",
  ],
  "an entry that is gone from KUBE-CLUSTER-IP": [
    () => machine.kernel.entries.delete("KUBE-CLUSTER-IP 10.96.0.10,tcp:80"),
    TO_CLUSTER_IP,
    "reject: 100 %, where the reference says 0 %",
  ],
  "a flushed chain of ours": [
    () => machine.alterRules(flush("KUBE-SOURCE-RANGES-FIREWALL")),
    KEPT_OUT,
    "10.244.1.12:8080: 100 %, where the reference says 0 %",
  ],
  "a jump that is gone": [
    () =>
      machine.alterRules((text) => text.replace(/^-A PREROUTING .*-j KUBE-PROXY-FIREWALL\n/m, "")),
    KEPT_OUT,
    "drop: 0 %, where the reference says 100 %",
  ],
  "a flushed chain that marks what is to be masqueraded": [
    () => machine.alterRules(flush("KUBE-MARK-MASQ")),
    TO_CLUSTER_IP,
    "10.244.2.12:8080 masqueraded: 0 %, where the reference says 75 %",
  ],
  "an address that is gone from the link": [
    () => machine.kernel.addresses.delete(BALANCER),
    OUTSIDE,
    "untouched: 100 %, where the reference says 0 %",
  ],
  "a virtual server that is gone": [
    () => {
      const server = serverAt(BALANCER);
      return server && machine.platform.ipvs.change([{ kind: "deleteService", server }]);
    },
    OUTSIDE,
    "untouched: 100 %, where the reference says 0 %",
  ],
  "a real server that takes nobody": [
    () => {
      const server = serverAt(BALANCER);
      const destination = { ip: "10.244.1.12", port: 8080, weight: 0 };
      return (
        server && machine.platform.ipvs.change([{ kind: "setDestination", server, destination }])
      );
    },
    OUTSIDE,
    "reject: 100 %, where the reference says 0 %",
  ],
  "a rule of somebody else": [
    () =>
      machine.alterRules((text) =>
        text.replace(/^(\*filter\n(?::.*\n)+)/m, "$1-A INPUT -s 192.0.2.0/24 -j DROP\n"),
      ),
    OUTSIDE,
    "drop: 100 %, where the reference says 0 %",
  ],
};

test.each(Object.keys(ALTERATIONS))("%s is seen", async (name) => {
  const [alter, packet, seen] = ALTERATIONS[name] ?? [];
  if (packet === undefined) throw new Error(`there is no ${name}`);
  expect((await explain(packet)).differences).toEqual([]);
  await alter?.();
  expect((await explain(packet)).differences).toContain(seen);
});
