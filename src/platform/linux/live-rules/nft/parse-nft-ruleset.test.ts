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
  wasSeen: () => false,
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
  const packet: Packet = {
    protocol: "TCP",
    src: "10.1.0.5",
    dst: "10.96.0.1",
    dstPort: 80,
    from: "workload",
    ...fields,
  };
  return walkRuleset(rules, packet, FACTS);
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
