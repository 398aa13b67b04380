import { expect, test } from "vitest";
import type { Packet } from "../../../../core/route/packet.ts";
import { sharesOf } from "../compare-verdict.ts";
import type { LiveFacts } from "../live-packet.ts";
import { walkRuleset } from "../walk-ruleset.ts";
import { parseNftRuleset } from "./parse-nft-ruleset.ts";
import { parseRuleTexts } from "./rule-texts.ts";

const FACTS: LiveFacts = {
  isLocalAddress: (ip) => ip === "192.0.2.1",
  interfaceOf: () => "veth7",
  linksBeneath: () => new Set(),
  wasSeen: () => false,
};

const PACKET: Packet = {
  protocol: "TCP",
  src: "10.1.0.5",
  dst: "10.96.0.1",
  dstPort: 80,
  from: "workload",
};

const T = { family: "ip", table: "t" };
const chain = (name: string, more: object = {}) => ({ chain: { ...T, name, ...more } });
const rule = (name: string, ...expr: readonly unknown[]) => ({
  rule: { ...T, chain: name, handle: 9, expr },
});
const payload = (protocol: string, field: string) => ({ payload: { protocol, field } });
const meta = (key: string) => ({ meta: { key } });
const match = (left: unknown, right: unknown, op = "==") => ({ match: { op, left, right } });
const KEY = { concat: [payload("ip", "daddr"), meta("l4proto"), payload("th", "dport")] };
const DROP = { drop: null };

const PREROUTING = chain("pre", { type: "nat", hook: "prerouting", prio: -100, policy: "accept" });

function walk(items: readonly unknown[], fields: Partial<Packet> = {}) {
  const rules = parseNftRuleset({ nftables: items }, parseRuleTexts(""));
  return walkRuleset(rules, { ...PACKET, ...fields }, FACTS);
}

const shares = (items: readonly unknown[], fields: Partial<Packet> = {}) =>
  Object.fromEntries(sharesOf(walk(items, fields)));

/** Whether a packet is dropped by a rule that begins so. */
function isDropped(expr: readonly unknown[], fields: Partial<Packet> = {}): boolean {
  return "drop" in shares([PREROUTING, rule("pre", ...expr, DROP)], fields);
}

test("maps lead to chains, and slots to endpoints", () => {
  const slot = (value: number, ip: string) => [
    { concat: ["10.96.0.1", "tcp", 80, value] },
    { concat: [ip, 8080] },
  ];
  const items = [
    {
      map: {
        ...T,
        name: "services",
        type: ["ipv4_addr", "inet_proto", "inet_service"],
        map: "verdict",
        elem: [
          [
            { elem: { val: { concat: ["10.96.0.1", "tcp", 80] }, comment: "web" } },
            { goto: { target: "two" } },
          ],
        ],
      },
    },
    {
      map: {
        ...T,
        name: "slots",
        type: ["ipv4_addr", "inet_proto", "inet_service", "integer"],
        map: "ipv4_addr . inet_service",
        elem: [slot(0, "10.1.0.1"), slot(1, "10.1.0.2")],
      },
    },
    PREROUTING,
    chain("two"),
    rule("pre", { vmap: { key: KEY, data: "@services" } }),
    rule("two", {
      dnat: {
        family: "ip",
        addr: {
          map: {
            key: { concat: [...KEY.concat, { numgen: { mode: "random", mod: 4, offset: 0 } }] },
            data: "@slots",
          },
        },
      },
    }),
    rule("two", DROP),
  ];
  expect(shares(items)).toEqual({ "10.1.0.1:8080": 0.25, "10.1.0.2:8080": 0.25, drop: 0.5 });
  expect(shares(items, { dstPort: 81 })).toEqual({ untouched: 1 });
  expect(walk(items)[0]?.trace.map(({ elements }) => elements)).toEqual([
    ["ip t services: 10.96.0.1 . tcp . 80 : goto ip t two"],
    ["ip t slots: 10.96.0.1 . tcp . 80 . 0 : 10.1.0.1 . 8080"],
  ]);
});

test("networks, ranges, sets and beginnings of names are compared", () => {
  const src = payload("ip", "saddr");
  const network = { prefix: { addr: "10.1.0.0", len: 16 } };
  expect(isDropped([match(src, network)])).toBe(true);
  expect(isDropped([match(src, network, "!=")])).toBe(false);
  expect(isDropped([match(src, { range: ["10.1.0.4", "10.1.0.6"] })])).toBe(true);
  expect(isDropped([match(src, { range: ["10.1.0.6", "10.1.0.9"] })])).toBe(false);
  expect(isDropped([match(src, { set: ["10.9.9.9", network] })])).toBe(true);
  expect(isDropped([match(meta("iifname"), "veth*")])).toBe(true);
  expect(isDropped([match(meta("iifname"), "eth*")])).toBe(false);
  expect(isDropped([match(KEY, { set: [{ concat: ["10.96.0.1", "tcp", 80] }] })])).toBe(true);
});

test("a port of one protocol is no port of another", () => {
  const tcpPort = match(payload("tcp", "dport"), 80);
  expect(isDropped([tcpPort])).toBe(true);
  expect(isDropped([tcpPort], { protocol: "UDP" })).toBe(false);
  expect(isDropped([match(payload("tcp", "dport"), 81, "!=")], { protocol: "UDP" })).toBe(false);
  expect(isDropped([match(payload("th", "dport"), 80)], { protocol: "UDP" })).toBe(true);
});

test("marks and priorities are carried from rule to rule", () => {
  const set = (key: string, value: unknown) => ({ mangle: { key: meta(key), value } });
  const items = [
    PREROUTING,
    rule("pre", set("mark", { "|": [meta("mark"), 0x4000] }), set("priority", "1:a")),
    rule(
      "pre",
      match({ "&": [meta("mark"), 0x4000] }, 0, "!="),
      match(meta("priority"), "1:a"),
      DROP,
    ),
  ];
  expect(shares(items)).toEqual({ drop: 1 });
});

test("states and where addresses belong are known", () => {
  const ct = (key: string) => ({ ct: { key } });
  expect(isDropped([match(ct("state"), ["established", "new"], "in")])).toBe(true);
  expect(isDropped([match(ct("state"), ["established", "related"], "!")])).toBe(true);
  expect(isDropped([match(ct("status"), "dnat", "in")])).toBe(false);
  const fib = { fib: { result: "type", flags: ["daddr"] } };
  expect(isDropped([match(fib, "local")])).toBe(false);
  expect(isDropped([match(fib, "local")], { dst: "192.0.2.1" })).toBe(true);
});

test("flags, families, and where a connection began are those of a first packet", () => {
  const flags = payload("tcp", "flags");
  const counting = { "&": [flags, ["fin", "syn", "rst", "ack"]] };
  expect(isDropped([match(flags, "syn", "in")])).toBe(true);
  expect(isDropped([match(flags, ["ack", "rst"], "in")])).toBe(false);
  expect(isDropped([match(flags, "syn", "in")], { protocol: "UDP" })).toBe(false);
  expect(isDropped([match(counting, "syn")])).toBe(true);
  expect(isDropped([match(counting, "syn", "!=")])).toBe(false);
  expect(isDropped([match({ "&": [flags, { "|": ["syn", "ack"] }] }, "syn")])).toBe(true);
  expect(isDropped([match(meta("nfproto"), "ipv4")])).toBe(true);
  expect(isDropped([match(meta("protocol"), "ip6")])).toBe(false);
  expect(isDropped([match(meta("iif"), "veth7")])).toBe(true);
  const original = (key: string) => ({ ct: { key, dir: "original" } });
  expect(isDropped([match(original("ip daddr"), "10.96.0.1")])).toBe(true);
  expect(isDropped([match(original("proto-dst"), 81)])).toBe(false);
  expect(isDropped([match({ ct: { key: "mark" } }, 0, "!=")])).toBe(false);
  const missing = { fib: { result: "oif", flags: ["saddr", "mark", "iif"] } };
  expect(isDropped([match(missing, false)])).toBe(false);
  expect(isDropped([match(missing, true)])).toBe(true);
  const states = {
    set: [
      ["established", { accept: null }],
      ["new", DROP],
    ],
  };
  expect(isDropped([{ vmap: { key: { ct: { key: "state" } }, data: states } }])).toBe(true);
});

test("headers that a packet does not have are nothing that is not known", () => {
  const unknown = (left: unknown, fields: Partial<Packet> = {}) =>
    walk([PREROUTING, rule("pre", match(left, 1), DROP)], fields).flatMap((each) => each.unknown);
  expect(unknown(payload("icmp", "type"))).toEqual([]);
  expect(unknown(payload("ip6", "hoplimit"))).toEqual([]);
  expect(unknown(payload("udp", "length"))).toEqual([]);
  expect(unknown(payload("ip", "ttl"))).toHaveLength(1);
  expect(unknown(payload("udp", "length"), { protocol: "UDP" })).toHaveLength(1);
});

test("before connections are looked for they can be left untracked; afterwards not", () => {
  const nat = rule("pre", { dnat: { addr: "10.1.0.1", port: 8080 } });
  const raw = (prio: number) => [
    chain("raw", { type: "filter", hook: "prerouting", prio, policy: "accept" }),
    rule("raw", { notrack: null }),
  ];
  expect(shares([PREROUTING, nat, ...raw(-300)])).toEqual({ untouched: 1 });
  expect(shares([PREROUTING, nat, ...raw(-150)])).toEqual({ "10.1.0.1:8080": 1 });
});

const LINKS = `table netdev t {
	chain in {
		type filter hook ingress device "veth7" priority filter; policy accept;
	}
	chain others {
		type filter hook ingress devices = { "eth0", "eth1" } priority filter; policy accept;
	}
	chain beneath {
		type filter hook ingress devices = { "eth0", "port1" } priority filter; policy accept;
	}
	chain out {
		type filter hook egress device "eth0" priority filter; policy accept;
	}
}
`;

test.each([
  ["netdev", "in", "ingress", { drop: 1 }, []],
  ["netdev", "others", "ingress", { untouched: 1 }, []],
  ["netdev", "out", "egress", { untouched: 1 }, []],
  [
    "netdev",
    "beneath",
    "ingress",
    { untouched: 1 },
    ["netdev t beneath: whether packets pass its link"],
  ],
  ["bridge", "p", "prerouting", { untouched: 1 }, ["bridge t p: whether packets pass its link"]],
  ["bridge", "p", "forward", { untouched: 1 }, []],
  ["arp", "p", "input", { untouched: 1 }, []],
])("chains of links: %s %s at %s", (family, name, hook, ends, unknown) => {
  const place = { family, table: "t" };
  const items = [
    { chain: { ...place, name, type: "filter", hook, prio: 0, policy: "accept" } },
    { rule: { ...place, chain: name, handle: 1, expr: [DROP] } },
  ];
  const rules = parseNftRuleset({ nftables: items }, parseRuleTexts(LINKS));
  const facts = { ...FACTS, linksBeneath: () => new Set(["port1"]) };
  const outcomes = walkRuleset(rules, PACKET, facts);
  expect(Object.fromEntries(sharesOf(outcomes))).toEqual(ends);
  expect(outcomes.flatMap((outcome) => outcome.unknown)).toEqual(unknown);
});

test("a reset is for TCP, other packets meet the next rule", () => {
  const items = [PREROUTING, rule("pre", { reject: { type: "tcp reset" } }), rule("pre", DROP)];
  expect(shares(items)).toEqual({ reject: 1 });
  expect(shares(items, { protocol: "UDP" })).toEqual({ drop: 1 });
});

test("what is not known is told: statements, fields, elements of sets", () => {
  const unknown = (...items: readonly unknown[]) =>
    walk([PREROUTING, ...items]).flatMap((outcome) => outcome.unknown);
  expect(unknown(rule("pre", { queue: { num: 1 } }))).toEqual(['ip t pre: {"queue":{"num":1}}']);
  expect(unknown(rule("pre", match(meta("skuid"), 0), DROP))).toEqual([
    'ip t pre: {"meta":{"key":"skuid"}}',
  ]);
  const odd = { set: { ...T, name: "odd", type: "ipv4_addr", elem: [{ strange: 1 }] } };
  expect(unknown(odd, rule("pre", match(payload("ip", "saddr"), "@odd"), DROP))).toEqual([
    "ip t pre: elements of ip t odd",
  ]);
  expect(unknown(rule("pre", { jump: { target: "nowhere" } }))).toEqual([
    "ip t pre: there is no chain ip t nowhere",
  ]);
  expect(unknown(rule("pre", "update @seen { ip saddr : meta priority }"))).toEqual([]);
});

test("rules are shown as nft prints them", () => {
  const texts = parseRuleTexts(
    'table ip t { # handle 1\n\tchain pre { # handle 2\n\t\tip daddr 1.1.1.1 drop comment "x" # handle 9\n\t}\n}\n',
  );
  const { chains } = parseNftRuleset({ nftables: [PREROUTING, rule("pre", DROP)] }, texts);
  expect(chains.get("ip t pre")?.rules.map(({ text }) => text)).toEqual([
    'ip daddr 1.1.1.1 drop comment "x"',
  ]);
});
