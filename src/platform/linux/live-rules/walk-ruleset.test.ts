import { expect, test } from "vitest";
import type { Packet } from "../../../core/route/packet.ts";
import { sharesOf } from "./compare-verdict.ts";
import { describeOutcomes } from "./describe-outcomes.ts";
import { parseIptablesSave } from "./iptables/parse-iptables-save.ts";
import type { LiveFacts } from "./live-packet.ts";
import type { LiveRuleset } from "./ruleset.ts";
import { walkRuleset } from "./walk-ruleset.ts";

const NODE_IP = "192.0.2.1";
const FACTS: LiveFacts = {
  isLocalAddress: (ip) => ip === NODE_IP || ip.startsWith("127."),
  interfaceOf: () => "eth0",
  linksBeneath: () => new Set(),
  wasSeen: (list, ip) => (list === "KNOWN" ? ip === "10.9.9.9" : undefined),
};

function rules(text: string): LiveRuleset {
  const { chains } = parseIptablesSave({ family: "v4", tool: "iptables", text });
  return { chains, containers: new Map() };
}

const packet = (fields: Partial<Packet> = {}): Packet => ({
  protocol: "TCP",
  src: "10.1.0.5",
  dst: "10.96.0.1",
  dstPort: 80,
  from: "workload",
  ...fields,
});

function walk(text: string, fields: Partial<Packet> = {}) {
  return walkRuleset(rules(text), packet(fields), FACTS);
}

const shares = (text: string, fields: Partial<Packet> = {}) =>
  Object.fromEntries(sharesOf(walk(text, fields)));

const BALANCED = `*nat
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:SERVICES - [0:0]
:SVC - [0:0]
:MASQ - [0:0]
-A PREROUTING -m comment --comment "-j DROP" -j SERVICES
-A OUTPUT -j SERVICES
-A SERVICES -d 10.96.0.1/32 -p tcp -m tcp --dport 80 -j SVC
-A SVC ! -s 10.1.0.0/16 -j MASQ
-A SVC -m statistic --mode random --probability 0.25 -j DNAT --to-destination 10.1.0.1:8080
-A SVC -j DNAT --to-destination 10.1.0.2:8080
-A MASQ -j MARK --set-xmark 0x4000/0x4000
-A POSTROUTING -m mark --mark 0x4000/0x4000 -j MASQUERADE --random-fully
COMMIT
`;

test("all ways are followed, each with its chance", () => {
  expect(shares(BALANCED)).toEqual({ "10.1.0.1:8080": 0.25, "10.1.0.2:8080": 0.75 });
});

test("marks that rules set decide about the source", () => {
  expect(shares(BALANCED, { src: "203.0.113.9", from: "outside" })).toEqual({
    "10.1.0.1:8080 masqueraded": 0.25,
    "10.1.0.2:8080 masqueraded": 0.75,
  });
});

test("what no rule matches is untouched", () => {
  expect(shares(BALANCED, { dstPort: 81 })).toEqual({ untouched: 1 });
  expect(shares(BALANCED, { protocol: "UDP" })).toEqual({ untouched: 1 });
});

test("for people, what all ways share stands once", () => {
  expect(describeOutcomes(walk(BALANCED))).toEqual([
    'iptables nat PREROUTING: -m comment --comment "-j DROP" -j SERVICES',
    "iptables nat SERVICES: -d 10.96.0.1/32 -p tcp -m tcp --dport 80 -j SVC",
    "75 %: 10.1.0.2:8080",
    "  iptables nat SVC: -j DNAT --to-destination 10.1.0.2:8080",
    "25 %: 10.1.0.1:8080",
    "  iptables nat SVC: -m statistic --mode random --probability 0.25 -j DNAT --to-destination 10.1.0.1:8080",
  ]);
});

test("the destination decides which hooks follow: forward, or input", () => {
  const text = `*filter
:INPUT ACCEPT [0:0]
:FORWARD DROP [0:0]
:OUTPUT ACCEPT [0:0]
-A INPUT -p tcp -m tcp --dport 80 -j REJECT --reject-with icmp-port-unreachable
-A OUTPUT -p udp -j DROP
COMMIT
`;
  expect(shares(text)).toEqual({ drop: 1 });
  expect(shares(text, { dst: NODE_IP })).toEqual({ reject: 1 });
  expect(shares(text, { dst: NODE_IP, dstPort: 81 })).toEqual({ untouched: 1 });
  expect(shares(text, { from: "node", src: NODE_IP })).toEqual({ untouched: 1 });
  expect(shares(text, { from: "node", src: NODE_IP, dst: "127.0.0.1" })).toEqual({ reject: 1 });
  expect(shares(text, { from: "node", src: NODE_IP, protocol: "UDP" })).toEqual({ drop: 1 });
});

test("a flow's destination is translated once, at the first hook that can", () => {
  const text = `*nat
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
-A OUTPUT -d 10.96.0.1/32 -j DNAT --to-destination 127.0.0.1:8080
-A PREROUTING -d 127.0.0.1/32 -j DNAT --to-destination 10.1.0.1:1
COMMIT
`;
  expect(shares(text, { from: "node", src: NODE_IP })).toEqual({ "127.0.0.1:8080": 1 });
});

test("a return comes back behind the jump, but not behind a goto", () => {
  const text = (how: string) => `*filter
:FORWARD ACCEPT [0:0]
:A - [0:0]
:B - [0:0]
-A FORWARD -j A
-A FORWARD -j REJECT
-A A ${how} B
-A A -j DROP
-A B -m addrtype --dst-type UNICAST -j RETURN
COMMIT
`;
  expect(shares(text("-j"))).toEqual({ drop: 1 });
  expect(shares(text("-g"))).toEqual({ reject: 1 });
});

test("interfaces, states, port lists and negations are compared", () => {
  const text = (rule: string) => `*filter
:FORWARD ACCEPT [0:0]
-A FORWARD ${rule} -j DROP
COMMIT
`;
  for (const rule of [
    "-i eth+",
    "! -i veth+",
    "-o eth0",
    "-m conntrack --ctstate NEW,RELATED",
    "-m conntrack ! --ctstate ESTABLISHED",
    "-p tcp -m multiport --dports 22,80:90",
    "-m addrtype ! --dst-type LOCAL",
    "-m conntrack ! --ctstatus DNAT",
    "-m conntrack --ctdir ORIGINAL",
    "-m conntrack --ctorigdst 10.96.0.0/16 --ctorigdstport 80",
    "-p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN",
    "-p tcp -m tcp ! --tcp-flags ALL NONE",
    "-m connmark --mark 0x0",
    "-m rpfilter --validmark",
  ]) {
    expect([rule, shares(text(rule))]).toEqual([rule, { drop: 1 }]);
  }
  for (const rule of [
    "-i veth+",
    "-m state --state INVALID",
    "-m conntrack --ctdir REPLY",
    "-m conntrack --ctorigdst 10.97.0.0/16",
    "-p tcp -m tcp --tcp-flags SYN,ACK SYN,ACK",
    "-p tcp -m tcp ! --tcp-flags FIN,SYN,RST,ACK SYN",
    "-m connmark ! --mark 0x0",
    "-m rpfilter --validmark --invert",
    "-m rt --rt-type 0",
    "-p tcp -m tcp --sport 1:9",
  ]) {
    expect([rule, shares(text(rule), { srcPort: 4000 })]).toEqual([rule, { untouched: 1 }]);
  }
});

test("what is not known is told, and not guessed", () => {
  const text = (rule: string) => `*filter
:FORWARD ACCEPT [0:0]
-A FORWARD ${rule}
COMMIT
`;
  const unknown = (rule: string) => walk(text(rule)).flatMap((outcome) => outcome.unknown);
  expect(unknown("-m set --match-set BLOCKED src -j DROP")).toEqual([
    "iptables filter FORWARD: the set BLOCKED",
  ]);
  expect(unknown("-p tcp -j TPROXY --on-port 1")).toEqual(["iptables filter FORWARD: -j TPROXY"]);
  expect(unknown("-p tcp -m tcp --sport 99 -j DROP")).toEqual(["iptables filter FORWARD: srcPort"]);
  expect(unknown("-p udp -m set --match-set BLOCKED src -j DROP")).toEqual([]);
  const recent =
    "-m recent --rcheck --seconds 60 --reap --name OTHER --mask 255.255.255.255 --rsource";
  expect(unknown(`${recent} -j DROP`)).toEqual(["iptables filter FORWARD: list OTHER of recent"]);
  expect(describeOutcomes(walk(text("-j TPROXY"))).at(-1)).toBe(
    "not known: iptables filter FORWARD: -j TPROXY",
  );
});

test("lists of recent clients are asked", () => {
  const text = `*filter
:FORWARD ACCEPT [0:0]
-A FORWARD -m recent --rcheck --seconds 60 --reap --name KNOWN --mask 255.255.255.255 --rsource -j DROP
-A FORWARD -m recent --set --name KNOWN --mask 255.255.255.255 --rsource -j ACCEPT
COMMIT
`;
  expect(shares(text, { src: "10.9.9.9" })).toEqual({ drop: 1 });
  expect(shares(text)).toEqual({ untouched: 1 });
});

const IP_SETS: NonNullable<LiveRuleset["ipSets"]> = new Map([
  ["HOSTS", [{ ip: "10.96.0.1" }]],
  ["CALLS", [{ ip: "10.96.0.1", protocol: "TCP", port: 80, mark: 0x4000 }]],
  [
    "FROM",
    [
      { ip: "10.96.0.1", protocol: "TCP", port: 80, second: "10.0.0.0/8" },
      { ip: "10.96.0.1", protocol: "TCP", port: 80, second: "10.1.0.0/16", isException: true },
      { ip: "10.96.0.1", protocol: "TCP", port: 80, second: "10.1.0.5" },
    ],
  ],
  ["PORTS", [{ port: 80 }]],
]);

test.each([
  ["--match-set HOSTS dst", {}, true],
  ["--match-set HOSTS src", {}, false],
  ["! --match-set HOSTS src", {}, true],
  ["--match-set CALLS dst,dst", {}, true],
  ["--match-set CALLS dst,dst", { protocol: "UDP" }, false],
  ["--match-set CALLS dst,dst", { dstPort: 81 }, false],
  ["--match-set CALLS src,dst", {}, false],
  ["--match-set CALLS dst", {}, false],
  ["--match-set FROM dst,dst,src", { src: "10.2.0.1" }, true],
  ["--match-set FROM dst,dst,src", { src: "10.1.0.1" }, false],
  ["--match-set FROM dst,dst,src", { src: "10.1.0.5" }, true],
  ["--match-set FROM dst,dst,src", { src: "11.0.0.1" }, false],
  ["--match-set PORTS dst", {}, true],
  ["--match-set PORTS dst", { dstPort: 81 }, false],
] as const)("of ipsets: %s for %o is %s", (match, fields, isMatch) => {
  const text = `*filter\n:FORWARD ACCEPT [0:0]\n-A FORWARD -m set ${match} -j DROP\nCOMMIT\n`;
  const [outcome] = walkRuleset({ ...rules(text), ipSets: IP_SETS }, packet(fields), FACTS);
  expect(outcome?.unknown).toEqual([]);
  expect(outcome?.end.kind).toBe(isMatch ? "drop" : "untouched");
});

test("an ipset gives packets the marks of its entries", () => {
  const text = `*mangle
:FORWARD ACCEPT [0:0]
-A FORWARD -j SET --map-set CALLS dst,dst --map-mark
-A FORWARD -m mark --mark 0x4000 -j DROP
-A FORWARD -j SET --add-set CALLS dst,dst
COMMIT
`;
  const end = (fields: Partial<Packet>) =>
    walkRuleset({ ...rules(text), ipSets: IP_SETS }, packet(fields), FACTS)[0];
  expect(end({})?.end.kind).toBe("drop");
  expect(end({ dstPort: 81 })?.end.kind).toBe("untouched");
  expect(end({ dstPort: 81 })?.unknown).toEqual(["iptables mangle FORWARD: -j SET"]);
});

test("what connections are marked with comes back to packets, by the bits of both masks", () => {
  const end = (mark: string) =>
    shares(`*mangle
:PREROUTING ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
-A PREROUTING -j MARK --set-xmark 0x12/0xffffffff
-A PREROUTING -j CONNMARK --save-mark --nfmask 0xf0 --ctmask 0xf0
-A PREROUTING -j CONNMARK --set-xmark 0x4/0xf
-A PREROUTING -j CONNMARK --restore-mark --nfmask 0xff --ctmask 0xff
-A FORWARD -m mark --mark ${mark} -j DROP
COMMIT
`);
  expect(end("0x14")).toEqual({ drop: 1 });
  expect(end("0x12")).toEqual({ untouched: 1 });
});

test("what is not tracked is not translated", () => {
  const text = (target: string) => `${BALANCED}*raw
:PREROUTING ACCEPT [0:0]
-A PREROUTING -j ${target}
COMMIT
*filter
:FORWARD ACCEPT [0:0]
-A FORWARD -m conntrack --ctstate UNTRACKED -j REJECT
COMMIT
`;
  expect(shares(text("CT --notrack"))).toEqual({ reject: 1 });
  expect(shares(text("CT --helper ftp"))).not.toHaveProperty("reject");
});
