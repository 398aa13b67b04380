import fc from "fast-check";
import { expect, test } from "vitest";
import { type EdgeService, type Observed, ServiceTable } from "./service-table.ts";

const UNKNOWN: Observed = { roundTripMs: () => undefined };
const RR = "10.30.0.1";
const CLOSEST = "10.30.0.2";
const SECOND = "10.30.0.3";

function service(weights: readonly number[], change: Partial<EdgeService> = {}): EdgeService {
  return {
    key: "shop/web",
    names: ["web.shop"],
    addresses: [
      { address: RR, policy: "round-robin", instance: -1 },
      { address: CLOSEST, policy: "closest", instance: -1 },
      { address: SECOND, policy: "instance", instance: 1 },
      { address: "fdff:2000::1", policy: "round-robin", instance: -1 },
    ],
    instances: weights.map((weight, number) => ({
      number,
      node: `node-${number}`,
      addresses: [`10.18.${number}.2`],
      weight,
    })),
    ...change,
  };
}

function tableOf(...services: readonly EdgeService[]): ServiceTable {
  const table = new ServiceTable();
  for (const each of services) table.set(each);
  return table;
}

function numbers(table: ServiceTable, ip: string, count: number): (number | undefined)[] {
  return Array.from({ length: count }, () => table.pick(ip, UNKNOWN)?.number);
}

test("round-robin takes each in turn", () => {
  expect(numbers(tableOf(service([1, 1, 1])), RR, 7)).toEqual([0, 1, 2, 0, 1, 2, 0]);
});

test("round-robin gives each exactly its share, whatever the weights", () => {
  const weights = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(weights, (given) => {
      const table = tableOf(service(given));
      const total = given.reduce((sum, weight) => sum + weight, 0);
      const picked = numbers(table, RR, total * 3);
      given.forEach((weight, number) => {
        expect(picked.filter((each) => each === number)).toHaveLength(weight * 3);
      });
      if (total === 0) expect(table.pick(RR, UNKNOWN)).toBeUndefined();
    }),
  );
});

test("closest follows the round-trip times, and those of unknown nodes are the longest", () => {
  const table = tableOf(service([1, 1, 1]));
  const times: Record<string, number> = { "node-0": 20, "node-1": 5 };
  const observed = { roundTripMs: (node: string) => times[node] };
  expect(table.pick(CLOSEST, observed)?.number).toBe(1);
  times["node-0"] = 1;
  expect(table.pick(CLOSEST, observed)?.number).toBe(0);
  expect(numbers(table, CLOSEST, 3)).toEqual([0, 1, 2]);
});

test("an instance's address means that one, or nobody", () => {
  const table = tableOf(service([1, 1]));
  expect(table.pick(SECOND, UNKNOWN)?.number).toBe(1);
  table.set(service([1]));
  expect(table.pick(SECOND, UNKNOWN)).toBeUndefined();
  expect(table.pick("10.30.9.9", UNKNOWN)).toBeUndefined();
});

test("an address is served by instances of its own family", () => {
  expect(tableOf(service([1])).pick("fdff:2000::1", UNKNOWN)).toBeUndefined();
});

test("who stays is the same, who goes is gone, and who moves is another one", () => {
  const table = tableOf(service([1, 1]));
  const [first, second] = [table.instanceAt("10.18.0.2"), table.instanceAt("10.18.1.2")];
  table.set(service([5]));
  expect(table.instanceAt("10.18.0.2")).toBe(first);
  expect([first?.isGone, first?.weight, second?.isGone]).toEqual([false, 5, true]);
  const moved = { number: 0, node: "node-9", addresses: ["10.18.0.2"], weight: 1 };
  table.set(service([], { instances: [moved] }));
  expect(first?.isGone).toBe(true);
  expect(table.instanceAt("10.18.0.2")?.node).toBe("node-9");
  table.delete("shop/web");
  table.delete("shop/web");
  expect([table.size, table.has(RR), table.instanceAt("10.18.0.2")]).toEqual([0, false, undefined]);
});

test("names have the addresses of their policies", () => {
  const table = tableOf(service([1, 1]));
  expect(table.addressesOf("WEB.shop.")).toEqual([RR, "fdff:2000::1"]);
  expect(table.addressesOf("rr.web.shop")).toEqual([RR, "fdff:2000::1"]);
  expect(table.addressesOf("closest.web.shop")).toEqual([CLOSEST]);
  expect(table.addressesOf("1.web.shop")).toEqual([SECOND]);
  expect(table.addressesOf("instance-1.web.shop")).toEqual([SECOND]);
  for (const name of ["0.web.shop", "db.shop", "web", "x.web.shop"]) {
    expect(table.addressesOf(name)).toBeUndefined();
  }
});

test("an address or a name of another service is refused by name, and nothing changes", () => {
  const table = tableOf(service([1]));
  const other = service([1], { key: "shop/db" });
  expect(() => table.set(other)).toThrow("address 10.30.0.1 is the one of service shop/web");
  expect(() => table.set({ ...other, addresses: [] })).toThrow('name "web.shop"');
  expect(table.size).toBe(1);
});

test("the address that means an instance", () => {
  const table = tableOf(service([1, 1]));
  const [first, second] = [table.instanceAt("10.18.0.2"), table.instanceAt("10.18.1.2")];
  if (first === undefined || second === undefined) throw new Error("no instances");
  expect(table.addressMeaning(second, false)).toBe(SECOND);
  expect(table.addressMeaning(second, true)).toBeUndefined();
  expect(table.addressMeaning(first, false)).toBeUndefined();
});

test("addresses and names change hands in one step", () => {
  const other = service([1], { key: "shop/db", names: ["db.shop"], addresses: [] });
  const table = tableOf(service([1]), other);
  const instance = table.instanceAt("10.18.0.2");
  table.setAll([
    { ...other, names: ["web.shop"], addresses: service([]).addresses },
    service([1], { addresses: [], names: ["db.shop"] }),
  ]);
  expect([table.pick(RR, UNKNOWN)?.service, instance?.isGone]).toEqual(["shop/db", false]);
  expect([table.addressesOf("db.shop"), table.addressesOf("web.shop")?.length]).toEqual([[], 2]);
});

test("turns of one policy take none of another's", () => {
  const table = tableOf(service([1, 1, 1]));
  const near: Observed = { roundTripMs: (node) => (node === "node-2" ? 9 : 1) };
  const picked = Array.from({ length: 6 }, () => {
    const closest = table.pick(CLOSEST, near)?.number;
    return [closest, table.pick(RR, near)?.number];
  });
  expect(picked.map(([closest]) => closest)).toEqual([0, 1, 0, 1, 0, 1]);
  expect(picked.map(([, next]) => next)).toEqual([0, 1, 2, 0, 1, 2]);
});

test("a port of a service leads to the one of each instance, and others to nobody", () => {
  const table = new ServiceTable();
  const leads = [{ protocol: "tcp", port: 80, target: 8080 }] as const;
  table.set({
    key: "default/web",
    names: [],
    addresses: [{ address: "10.30.0.1", policy: "round-robin", instance: -1 }],
    instances: [
      { number: 0, node: "a", addresses: ["10.18.0.2"], weight: 1, leads },
      { number: 1, node: "b", addresses: ["10.18.0.66"], weight: 1, leads: [] },
    ],
  });
  const observed = { roundTripMs: () => undefined };
  const pick = (protocol: number, port: number) =>
    table.pick("10.30.0.1", observed, (one) => one.targetOf(protocol, port) !== undefined);
  const picked = pick(6, 80);
  expect([picked?.number, picked?.targetOf(6, 80)]).toEqual([0, 8080]);
  expect(pick(17, 80)).toBeUndefined();
  expect(pick(1, 0)).toBeDefined();
});
