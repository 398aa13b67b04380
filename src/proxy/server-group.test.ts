import { expect, test } from "vitest";
import { seededRandom } from "../../test/support/seeded-random.ts";
import type { BalancingMethod } from "../core/model/group.ts";
import type { MemberSpec } from "./balance/member.ts";
import type { Server } from "./balance/server.ts";
import { ServerGroup, type ServerGroupOptions } from "./server-group.ts";

const METHODS: readonly BalancingMethod[] = [
  "random",
  "round-robin",
  "weighted-round-robin",
  "least-connections",
  "source-hash",
  "least-latency",
];

function groupOf(options: Partial<ServerGroupOptions> = {}): ServerGroup {
  const random = seededRandom(7);
  return new ServerGroup({ method: "round-robin", random, startsHealthy: true, ...options });
}

function member(
  id: string,
  weight = 1,
  addresses: readonly string[] = [`10.0.0.${id}`],
): MemberSpec {
  return { id, addresses, port: 80, weight };
}

const clientOf = (n: number) => `172.16.${(n >> 8) & 0xff}.${n & 0xff}`;

/** Opens connections that all stay open, and counts them by member. */
function share(group: ServerGroup, count: number, nowMs = 0): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let n = 0; n < count; n++) {
    const server = group.next(clientOf(n), nowMs);
    if (server === undefined) continue;
    group.opened(server);
    server.latency.observe(10, nowMs);
    counts[server.memberId] = (counts[server.memberId] ?? 0) + 1;
  }
  return counts;
}

function serverOf(group: ServerGroup, address: string): Server {
  for (const server of group.servers()) if (server.address === address) return server;
  throw new Error(`no server ${address}`);
}

const addressesIn = (group: ServerGroup) => [...group.servers()].map((one) => one.address).sort();

test.each(METHODS)("%s honours weights", (method) => {
  const group = groupOf({ method });
  for (const [id, weight] of [
    ["1", 1],
    ["2", 2],
    ["5", 5],
  ] as const)
    group.put(member(id, weight), 0);
  const counts = share(group, 8000);
  for (const [id, weight] of [
    ["1", 1],
    ["2", 2],
    ["5", 5],
  ] as const) {
    expect((counts[id] ?? 0) / 1000, `member ${id}`).toBeGreaterThan(weight * 0.9);
    expect((counts[id] ?? 0) / 1000, `member ${id}`).toBeLessThan(weight * 1.1);
  }
});

test.each(METHODS)("%s leaves out who drains, is down, was removed or is refused", (method) => {
  const group = groupOf({ method });
  for (const id of ["1", "2", "3", "4", "5"]) group.put(member(id), 0);
  group.put(member("1", 0), 0);
  group.setHealthy(serverOf(group, "10.0.0.2"), false, 0);
  group.remove("3");
  expect(group.available).toBe(2);
  expect(Object.keys(share(group, 200))).toEqual(["4", "5"]);
  for (let n = 0; n < 50; n++) {
    expect(group.next(clientOf(n), 0, (one) => one.memberId !== "4")?.memberId).toBe("5");
  }
  expect(group.next("10.1.1.1", 0, () => false)).toBeUndefined();
});

test.each(METHODS)("%s with nobody gives nobody", (method) => {
  expect(groupOf({ method }).next("10.1.1.1", 0)).toBeUndefined();
});

test.each(METHODS)("%s serves 1,000 servers that come and go, each in proportion", (method) => {
  const group = groupOf({ method });
  for (let n = 0; n < 1000; n++)
    group.put(member(String(n), 1 + (n % 3), [`10.1.${n >> 8}.${n & 0xff}`]), 0);
  for (let n = 0; n < 1000; n += 2) group.remove(String(n));
  for (let n = 0; n < 1000; n += 4)
    group.put(member(String(n), 2, [`10.2.${n >> 8}.${n & 0xff}`]), 0);
  expect(group.available).toBe(750);
  const counts = share(group, 15_000);
  for (const id of Object.keys(counts)) expect(Number(id) % 4, id).not.toBe(2);
  let [weight, taken] = [0, 0];
  for (let n = 1; n < 1000; n += 2) weight += 1 + (n % 3);
  for (let n = 1; n < 1000; n += 2) taken += counts[String(n)] ?? 0;
  expect(taken / 15_000).toBeCloseTo(weight / (weight + 500), 1);
});

test("least connections follows what closes", () => {
  const group = groupOf({ method: "least-connections" });
  for (const id of ["1", "2", "3"]) group.put(member(id), 0);
  share(group, 300);
  const second = serverOf(group, "10.0.0.2");
  for (let n = 0; n < 50; n++) group.closed(second);
  expect(share(group, 50)).toEqual({ "2": 50 });
});

test("a change of weight or method keeps the counts", () => {
  const group = groupOf({ method: "least-connections" });
  group.put(member("1"), 0);
  group.put(member("2"), 0);
  share(group, 10);
  group.put(member("1", 3), 0);
  group.setMethod("random");
  group.setMethod("least-connections");
  expect([...group.servers()].map((one) => one.connections)).toEqual([5, 5]);
  expect(share(group, 10)).toEqual({ "1": 10 });
});

test("connections outlive their server, and count again when it comes back", () => {
  const group = groupOf({ method: "least-connections" });
  group.put(member("1"), 0);
  group.put(member("2"), 0);
  share(group, 20);
  const first = serverOf(group, "10.0.0.1");
  group.remove("1");
  group.closed(first);
  group.put(member("1"), 0);
  expect(serverOf(group, "10.0.0.1")).toBe(first);
  expect(first.connections).toBe(9);
  group.remove("1");
  while (first.connections > 0) group.closed(first);
  group.put(member("1"), 0);
  expect(serverOf(group, "10.0.0.1")).not.toBe(first);
});

test("servers wait for their first check where there is one", () => {
  const group = groupOf({ startsHealthy: false });
  group.put(member("1"), 0);
  expect(group.next("10.1.1.1", 0)).toBeUndefined();
  group.setHealthy(serverOf(group, "10.0.0.1"), true, 0);
  expect(group.next("10.1.1.1", 0)?.memberId).toBe("1");
});

test("slow start: the weight rises from a tenth to the whole", () => {
  const group = groupOf({ startsHealthy: false, slowStartMs: 10_000 });
  for (const id of ["1", "2"]) group.put(member(id), 0);
  group.setHealthy(serverOf(group, "10.0.0.1"), true, 0);
  group.setHealthy(serverOf(group, "10.0.0.2"), true, 20_000);
  const partOfSecond = (nowMs: number) => (share(group, 1100, nowMs)["2"] ?? 0) / 1100;
  expect(partOfSecond(20_000)).toBeCloseTo(1 / 11, 2);
  expect(partOfSecond(25_000)).toBeCloseTo(1 / 3, 2);
  expect(partOfSecond(30_000)).toBeCloseTo(1 / 2, 2);
  expect(serverOf(group, "10.0.0.2").weight).toBe(1);
});

test("slow start begins again after a server was down, and ends at once when it is switched off", () => {
  const group = groupOf({ startsHealthy: false, slowStartMs: 10_000 });
  group.put(member("1"), 0);
  const server = serverOf(group, "10.0.0.1");
  group.setHealthy(server, true, 0);
  group.next("", 9000);
  expect(server.weight).toBeCloseTo(0.9);
  group.setHealthy(server, false, 9000);
  group.setHealthy(server, true, 9500);
  expect(server.weight).toBeCloseTo(0.1);
  group.setSlowStartMs(0);
  group.next("", 9600);
  expect(server.weight).toBe(1);
});

test("the addresses of one name share its weight", () => {
  const group = groupOf();
  group.put(member("1", 3, ["10.0.0.1", "10.0.0.2", "fd00::3"]), 0);
  group.put(member("9", 3), 0);
  expect(share(group, 600)).toEqual({ "1": 300, "9": 300 });
  group.setHealthy(serverOf(group, "10.0.0.2"), false, 0);
  expect(share(group, 600)).toEqual({ "1": 300, "9": 300 });
  expect(serverOf(group, "fd00::3").weight).toBe(1.5);
});

test("a name that resolves to something else keeps its old address until the new one is up", () => {
  const added: string[] = [];
  const removed: string[] = [];
  const group = groupOf({
    startsHealthy: false,
    onAdded: (server) => added.push(server.address),
    onRemoved: (server) => removed.push(server.address),
  });
  group.put(member("web", 1, ["10.0.0.1"]), 0);
  group.setHealthy(serverOf(group, "10.0.0.1"), true, 0);
  group.put(member("web", 1, ["10.0.0.2"]), 0);
  expect(added).toEqual(["10.0.0.1", "10.0.0.2"]);
  expect(group.next("", 0)?.address).toBe("10.0.0.1");
  group.setHealthy(serverOf(group, "10.0.0.2"), true, 0);
  expect(removed).toEqual(["10.0.0.1"]);
  expect(group.next("", 0)?.address).toBe("10.0.0.2");
});

test("an old address that is down itself is of no use, and a name that resolves to nothing changes nothing", () => {
  const group = groupOf({ startsHealthy: false });
  group.put(member("web", 1, ["10.0.0.1"]), 0);
  const old = serverOf(group, "10.0.0.1");
  group.setHealthy(old, true, 0);
  group.put(member("web", 1, []), 0);
  expect(group.next("", 0)).toBe(old);
  group.put(member("web", 1, ["10.0.0.2"]), 0);
  group.setHealthy(old, false, 0);
  expect(addressesIn(group)).toEqual(["10.0.0.2"]);
  group.setHealthy(old, true, 0);
  expect(group.next("", 0)).toBeUndefined();
});

test("a server is found by its address while it takes connections", () => {
  const group = groupOf();
  group.put(member("1"), 0);
  group.put(member("6", 1, ["fd00::6"]), 0);
  expect(group.find("fd00::6", 80)?.key).toBe("[fd00::6]:80");
  expect(group.find("10.0.0.1", 81)).toBeUndefined();
  group.put(member("1", 0), 0);
  expect(group.find("10.0.0.1", 80)).toBeUndefined();
});

test("a server that no check has judged is given only where it is asked for", () => {
  const group = groupOf({ startsHealthy: false });
  group.put(member("1"), 0);
  group.put(member("2", 0), 0);
  expect(group.next("c", 0)).toBeUndefined();
  expect(group.nextUnjudged()?.memberId).toBe("1");
  expect(group.nextUnjudged(() => false)).toBeUndefined();
  expect(group.find("10.0.0.1", 80)?.memberId).toBe("1");
  group.setHealthy(serverOf(group, "10.0.0.1"), false, 0);
  expect(group.nextUnjudged()).toBeUndefined();
  expect(group.find("10.0.0.1", 80)).toBeUndefined();
});
