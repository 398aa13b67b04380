import { expect, test } from "vitest";
import type { Packet } from "../../../core/route/packet.ts";
import { sharesOf } from "./compare-verdict.ts";
import { findDoubts } from "./find-doubts.ts";
import { parseIptablesSave } from "./iptables/parse-iptables-save.ts";
import type { LiveFacts } from "./live-packet.ts";
import type { LiveOutcome } from "./walk-ruleset.ts";

const FACTS: LiveFacts = {
  isLocalAddress: () => false,
  interfaceOf: (ip) => (ip.startsWith("10.1.") ? "cni0" : "eth0"),
  linksBeneath: () => new Set(),
  wasSeen: () => undefined,
};

const PACKET: Packet = {
  protocol: "TCP",
  src: "192.0.2.9",
  dst: "10.96.0.1",
  dstPort: 80,
  from: "outside",
};

const NAT = `*nat
:PREROUTING ACCEPT [0:0]
-A PREROUTING -d 10.96.0.1/32 -m statistic --mode random --probability 0.5 -j DNAT --to-destination 10.1.0.1:8080
-A PREROUTING -d 10.96.0.1/32 -j DNAT --to-destination 10.1.0.2:8080
COMMIT
`;

/** What may keep the packet from either endpoint. */
function doubts(rules: string, mostWays?: number): readonly string[] {
  const text = `${NAT}*filter\n${rules}COMMIT\n`;
  const { chains } = parseIptablesSave({ family: "v4", tool: "iptables", text });
  const isRight = (outcomes: readonly LiveOutcome[]): boolean => {
    const shares = sharesOf(outcomes);
    return shares.get("10.1.0.1:8080") === 0.5 && shares.get("10.1.0.2:8080") === 0.5;
  };
  return findDoubts({ chains, containers: new Map() }, PACKET, FACTS, isRight, mostWays);
}

const forward = (...rules: readonly string[]): readonly string[] => doubts(tableOf(rules));

function tableOf(rules: readonly string[]): string {
  return `:FORWARD ACCEPT [0:0]\n:OTHER - [0:0]\n${rules.map((rule) => `-A ${rule}\n`).join("")}`;
}

const ODD = "-m odd --even";
const WHAT = "iptables filter FORWARD: -m odd";

test.each([
  [[`FORWARD ${ODD} -j DROP`], WHAT],
  [[`FORWARD ${ODD} -j REJECT`], WHAT],
  [["FORWARD -j ODD"], "iptables filter FORWARD: -j ODD"],
  [[`FORWARD ${ODD} -j OTHER`, "OTHER -p tcp -j DROP"], WHAT],
  [[`FORWARD ${ODD} -j MARK --set-xmark 0x1/0x1`, "FORWARD -m mark --mark 0x1/0x1 -j DROP"], WHAT],
])("what is not known and may stop the packet is doubted: %j", (rules, what) => {
  expect(forward(...rules)).toEqual([what]);
});

test.each([
  ["FORWARD -p tcp"],
  [`FORWARD ${ODD}`],
  [`FORWARD ${ODD} -j LOG`],
  [`FORWARD ${ODD} -j ACCEPT`],
  [`FORWARD ${ODD} -j RETURN`],
  [`FORWARD ${ODD} -p udp -j DROP`],
  [`FORWARD ${ODD} -j OTHER`, "OTHER -j LOG", "OTHER -p udp -j DROP"],
  [`FORWARD ${ODD} -j MARK --set-xmark 0x1/0x1`],
  ["FORWARD -j ACCEPT", `FORWARD ${ODD} -j DROP`],
])("what is not known and can not matter is not doubted: %s", (...rules) => {
  expect(forward(...rules)).toEqual([]);
});

test("what only together stops a packet is found, and what has no part in it is not named", () => {
  const marks = `FORWARD -m first -j MARK --set-xmark 0x1/0x1`;
  const drops = "FORWARD -m mark --mark 0x1/0x1 -m second -j DROP";
  expect(forward(marks, drops)).toEqual([
    "iptables filter FORWARD: -m first",
    "iptables filter FORWARD: -m second",
  ]);
  expect(forward(`FORWARD ${ODD} -j OTHER`, "FORWARD -m second -j DROP")).toEqual([
    "iptables filter FORWARD: -m second",
  ]);
});

test("where too much is not known to try all of it, that is doubted", () => {
  const jumps = Array.from({ length: 20 }, (_, index) => `FORWARD -m odd${index} -j OTHER`);
  expect(doubts(tableOf([...jumps, "OTHER -p udp -j DROP"]), 1000)).toEqual([
    "more is not known than can be tried",
  ]);
});

test("rules that docker and ufw make are no doubt", () => {
  expect(
    doubts(`:FORWARD ACCEPT [0:0]
:DOCKER - [0:0]
:DOCKER-FORWARD - [0:0]
:DOCKER-BRIDGE - [0:0]
:DOCKER-CT - [0:0]
:ufw-before-forward - [0:0]
:ufw-logging-deny - [0:0]
-A FORWARD -j DOCKER-FORWARD
-A FORWARD -j ufw-before-forward
-A DOCKER-FORWARD -j DOCKER-CT
-A DOCKER-FORWARD -j DOCKER-BRIDGE
-A DOCKER-FORWARD -i docker0 -j ACCEPT
-A DOCKER-FORWARD -m set --match-set docker-ext-bridges-v4 dst -j DOCKER-BRIDGE
-A DOCKER-BRIDGE -o docker0 -j DOCKER
-A DOCKER-CT -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A DOCKER ! -i docker0 -o docker0 -j DROP
-A ufw-before-forward -m conntrack --ctstate INVALID -j ufw-logging-deny
-A ufw-before-forward -m limit --limit 3/min --limit-burst 10 -j ufw-logging-deny
-A ufw-before-forward -p icmp -m icmp --icmp-type 3 -j ACCEPT
-A ufw-before-forward -p udp -m udp --sport 67 --dport 68 -j ACCEPT
-A ufw-before-forward -p tcp -m tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu
-A ufw-logging-deny -m conntrack --ctstate INVALID -m limit --limit 3/min --limit-burst 10 -j RETURN
-A ufw-logging-deny -m limit --limit 3/min --limit-burst 10 -j LOG --log-prefix "[UFW BLOCK] "
`),
  ).toEqual([]);
});
