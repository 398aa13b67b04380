import { expect, test } from "vitest";
import { type Cidr, parseCidr } from "../../core/model/address.ts";
import { TYPES } from "../../wire/dns/dns-words.ts";
import type { TableRow } from "../environment/route-table.ts";
import { mergeServices } from "../overlay/merge-services.ts";
import { ServiceTable } from "../table/service-table.ts";
import { EdgeNames } from "./edge-names.ts";
import { indexAddresses, indexNames } from "./name-table.ts";
import { holdsAddresses } from "./reverse-names.ts";

const WEB_PORTS = [
  { protocol: "tcp", port: 80 },
  { protocol: "udp", port: 80 },
  { protocol: "tcp", port: 443 },
] as const;

function row(appName: string, instanceNumber: number, more: Partial<TableRow> = {}): TableRow {
  return {
    appName,
    instanceNumber,
    nodeIp: "192.0.2.1",
    nodePort: 50_103,
    nsAddress: `10.18.0.${66 + instanceNumber}`,
    nsAddressv6: `fc00::10${2 + instanceNumber}`,
    serviceIps: [],
    isLocal: true,
    ...more,
  };
}

const SHARED = [
  { type: "RR", address: "10.30.0.1" },
  { type: "RR", address: "fdff::1" },
  { type: "Closest", address: "10.30.0.2" },
] as const;
const SHOP = [0, 1].map((number) =>
  row("Web.shop", number, {
    serviceIps: [...SHARED, { type: "InstanceNumber", address: `10.30.1.${number}` }],
    ports: WEB_PORTS,
  }),
);
const ROWS = [...SHOP, row("db", 0, { ports: [{ protocol: "tcp", port: 5432 }] }), row("db", 1)];

function namesOf(rows: readonly TableRow[] = ROWS): EdgeNames {
  return new EdgeNames(tableOf(() => rows));
}

/** As a node has it. */
function tableOf(rows: () => readonly TableRow[]) {
  return {
    serviceNamed: (name: string) => indexNames(mergeServices("here", rows(), [])).get(name),
  };
}

function ask(names: EdgeNames, name: string, type: keyof typeof TYPES): unknown {
  const answer = names.answer({ name, type: TYPES[type] });
  if (answer === undefined) return "not ours";
  if (answer.rcode !== "NOERROR") return answer.rcode;
  return answer.answers.map((record) => ("data" in record ? record.data : undefined));
}

test.each([
  ["web.shop", "A", ["10.30.0.1"]],
  ["WEB.Shop", "AAAA", ["fdff::1"]],
  ["rr.web.shop", "A", ["10.30.0.1"]],
  ["closest.web.shop", "A", ["10.30.0.2"]],
  ["closest.web.shop", "AAAA", []],
  ["1.web.shop", "A", ["10.30.1.1"]],
  ["instance-1.web.shop", "A", ["10.30.1.1"]],
  ["instance1.web.shop", "AAAA", []],
  ["web.shop", "SOA", []],
  ["2.web.shop", "A", "NXDOMAIN"],
  ["rr.web.shop.local", "A", ["10.30.0.1"]],
  // Without addresses of services: the instances themselves.
  ["1.db", "A", ["10.18.0.67"]],
  ["1.db.LOCAL", "AAAA", ["fc00::103"]],
  ["rr.db", "A", "NXDOMAIN"],
  ["closest.db", "AAAA", "NXDOMAIN"],
  ["7.db", "A", "NXDOMAIN"],
  // Others may know these; nobody knows what ends with .local.
  ["www.web.shop", "A", "not ours"],
  ["shop", "A", "not ours"],
  ["", "A", "not ours"],
  ["www.web.shop.local", "A", "NXDOMAIN"],
  ["nobody.local", "AAAA", "NXDOMAIN"],
  ["a\\.web.shop", "A", "not ours"],
] as const)("%s %s is %j", (name, type, expected) => {
  expect(ask(namesOf(), name, type)).toEqual(expected);
});

test("all records have the name as it was asked for, and do not hold for long", () => {
  expect(namesOf().answer({ name: "Web.SHOP", type: TYPES.ANY })?.answers).toEqual([
    { type: "AAAA", name: "Web.SHOP", ttl: 5, data: "fdff::1" },
    { type: "A", name: "Web.SHOP", ttl: 5, data: "10.30.0.1" },
  ]);
});

test("of several addresses each is the first in turn", () => {
  const names = namesOf();
  const firsts = [0, 1, 2, 3].map(() => names.answer({ name: "db", type: TYPES.A })?.answers[0]);
  expect(new Set(firsts.map((one) => one && "data" in one && one.data)).size).toBe(2);
});

test("SRV of a service names the ports of its instances, with the addresses of those", () => {
  const found = namesOf().answer({ name: "_http._tcp.web.shop", type: TYPES.SRV });
  const target = (number: number, port: number) => ({
    ...{ type: "SRV", name: "_http._tcp.web.shop", ttl: 5 },
    data: { priority: 0, weight: 1, port, target: `${number}.web.shop` },
  });
  expect(found?.answers).toEqual([target(0, 80), target(0, 443), target(1, 80), target(1, 443)]);
  expect(found?.additionals).toEqual([
    { type: "A", name: "0.web.shop", ttl: 5, data: "10.30.1.0" },
    { type: "A", name: "1.web.shop", ttl: 5, data: "10.30.1.1" },
  ]);
});

test.each([
  ["_443._tcp.web.shop", ["0.web.shop:443", "1.web.shop:443"]],
  ["_dns._UDP.web.shop", ["0.web.shop:80", "1.web.shop:80"]],
  ["rr.web.shop", ["rr.web.shop:80", "rr.web.shop:443"]],
  ["_443._tcp.closest.web.shop.local", ["closest.web.shop.local:443"]],
  ["_80._tcp.1.web.shop", ["1.web.shop:80"]],
  ["_x._tcp.db", ["0.db:5432"]],
  ["1.db", []],
  ["_9._tcp.db", []],
])("SRV of %s is %j", (name, expected) => {
  const { answers = [] } = namesOf().answer({ name, type: TYPES.SRV }) ?? {};
  const targets = answers.map((record) =>
    record.type === "SRV" ? `${record.data.target}:${record.data.port}` : record.type,
  );
  expect(targets).toEqual(expected);
});

test("a name that only SRV records have is there for all kinds, one of no service is not", () => {
  const names = namesOf();
  expect(ask(names, "_http._tcp.web.shop", "A")).toEqual([]);
  expect(ask(names, "_http._tcp.9.web.shop", "SRV")).toBe("NXDOMAIN");
  expect(ask(names, "_http._tcp.example.com", "SRV")).toBe("not ours");
  expect(ask(names, "_a\\.b._tcp.web.shop", "SRV")).toBe("not ours");
});

test("a table that changes changes the names", () => {
  let rows: readonly TableRow[] = [];
  const names = new EdgeNames(tableOf(() => rows));
  expect(ask(names, "db", "A")).toBe("not ours");
  rows = ROWS;
  expect(ask(names, "0.db", "A")).toEqual(["10.18.0.66"]);
});

test("the table of a tunnel is asked in the same way", () => {
  const table = new ServiceTable();
  table.set({
    key: "shop/web",
    names: ["web.shop"],
    addresses: [{ address: "10.30.0.9", policy: "closest", instance: -1 }],
    instances: [{ number: 3, node: "n", addresses: ["10.18.1.2"], weight: 2 }],
  });
  const names = new EdgeNames(table);
  expect(ask(names, "web.shop", "A")).toEqual(["10.30.0.9"]);
  expect(ask(names, "3.web.shop", "A")).toEqual(["10.18.1.2"]);
});

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new TypeError(text);
  return parsed;
}

function planOf(...peerNetworks: readonly string[]) {
  return {
    subnets: { v4: cidr("10.18.0.64/26"), v6: cidr("fc00::100/120") },
    serviceRanges: [cidr("10.30.0.0/16"), cidr("fdff::/16")],
    peerNetworks: peerNetworks.map(cidr),
  };
}

/** `fdff::1` as `1.0.0. ... f.d.f.ip6.arpa`. */
function reverseV6(first: string, last: string): string {
  return `${[...`${first}${last.padStart(32 - first.length, "0")}`].reverse().join(".")}.ip6.arpa`;
}

test.each([
  ["1.0.30.10.in-addr.arpa", "PTR", ["rr.web.shop"]],
  ["2.0.30.10.IN-ADDR.arpa", "PTR", ["closest.web.shop"]],
  ["1.1.30.10.in-addr.arpa", "PTR", ["1.web.shop"]],
  ["67.0.18.10.in-addr.arpa", "ANY", ["1.web.shop"]],
  [reverseV6("fdff", "1"), "PTR", ["rr.web.shop"]],
  [reverseV6("FC00", "102"), "PTR", ["0.web.shop"]],
  ["1.0.30.10.in-addr.arpa", "A", []],
  // Ours, and of nobody.
  ["65.0.18.10.in-addr.arpa", "PTR", "NXDOMAIN"],
  ["9.9.30.10.in-addr.arpa", "PTR", "NXDOMAIN"],
  ["7.0.18.10.in-addr.arpa", "PTR", "NXDOMAIN"],
  [reverseV6("fdff", "9"), "PTR", "NXDOMAIN"],
  [reverseV6("fc00", "201"), "AAAA", "NXDOMAIN"],
  // Others may know these.
  ["1.2.0.192.in-addr.arpa", "PTR", "not ours"],
  ["1.1.18.10.in-addr.arpa", "PTR", "not ours"],
  [reverseV6("20010db8", "1"), "PTR", "not ours"],
  [reverseV6("0", "ffff0a1e0001"), "PTR", "not ours"],
  ["0.30.10.in-addr.arpa", "PTR", "not ours"],
  ["1.1.0.30.10.in-addr.arpa", "PTR", "not ours"],
  ["300.0.30.10.in-addr.arpa", "PTR", "not ours"],
  ["f.d.f.ip6.arpa", "PTR", "not ours"],
] as const)("%s %s is %j", (name, type, expected) => {
  const plan = planOf("10.18.0.0/26", "fc00::200/120");
  const index = indexAddresses(indexNames(mergeServices("here", SHOP, [])));
  const names = new EdgeNames(
    tableOf(() => SHOP),
    {
      has: holdsAddresses(() => plan),
      nameOf: (ip) => index.get(ip),
    },
  );
  expect(ask(names, name, type)).toEqual(expected);
});

test("addresses of a node are ours from when it is known, and none before the node has networks", () => {
  let plan: ReturnType<typeof planOf> | undefined;
  const has = holdsAddresses(() => plan);
  expect(has("10.18.0.65")).toBe(false);
  plan = planOf();
  expect([has("10.18.0.65"), has("10.18.1.1")]).toEqual([true, false]);
  plan = planOf("10.18.1.0/26");
  expect([has("10.18.0.65"), has("10.18.1.1")]).toEqual([true, true]);
});

test("an address is called by the first name that its service kept", () => {
  const service = (number: number, ...names: readonly string[]) => ({
    names,
    addresses: [],
    instances: [{ number, addresses: [`10.18.0.${number}`, ""] }],
  });
  const services = [service(1, "web", "web.default"), service(2, "WEB", "web.shop")];
  expect(indexAddresses(indexNames(services))).toEqual(
    new Map([
      ["10.18.0.1", "1.web"],
      ["10.18.0.2", "2.web.shop"],
    ]),
  );
  expect(indexAddresses(indexNames([service(1, "web"), service(2, "web")])).size).toBe(1);
});
