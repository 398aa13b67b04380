import fc from "fast-check";
import { expect, test } from "vitest";
import { sampleService } from "../../../test/support/samples.ts";
import { claimsOf } from "./claims.ts";
import { GlobalStore } from "./global-store.ts";

const ORDER = ["first", "second", "third"];

const stepArbitrary = fc.record({
  owner: fc.constantFrom(...ORDER, "unranked"),
  name: fc.constantFrom("a", "b", "c", "d"),
  clusterIPs: fc.subarray(["10.0.0.1", "10.0.0.2", "10.0.0.3"]),
  deletes: fc.boolean(),
});

type Step = typeof stepArbitrary extends fc.Arbitrary<infer T> ? T : never;

function rank(owner: string): number {
  return ORDER.includes(owner) ? ORDER.indexOf(owner) : ORDER.length;
}

/** Whether the owner wants another service with one of its addresses. */
function clashesWithin(
  owner: string,
  service: ReturnType<typeof sampleService>,
  wanted: ReadonlyMap<string, ReturnType<typeof sampleService>>,
): boolean {
  return [...wanted].some(
    ([id, other]) =>
      id.startsWith(`${owner} `) &&
      other.name !== service.name &&
      other.clusterIPs.some((ip) => service.clusterIPs.includes(ip)),
  );
}

function take(
  store: GlobalStore,
  { owner, name, clusterIPs, deletes }: Step,
  wanted: Map<string, ReturnType<typeof sampleService>>,
): void {
  const service = sampleService({ name, clusterIPs });
  const { refused } = store.transactFitting(owner, (tx) =>
    deletes ? tx.delete("Service", `default/${name}`) : tx.set(service),
  );
  const isClash = !deletes && clashesWithin(owner, service, wanted);
  expect(refused.length, "refused is what clashes within its owner, and nothing else").toBe(
    isClash ? 1 : 0,
  );
  if (deletes) wanted.delete(`${owner} ${name}`);
  else if (!isClash) wanted.set(`${owner} ${name}`, service);
}

test("with an order of owners, after any history every claim is with its rightful holder", () => {
  fc.assert(
    fc.property(fc.array(stepArbitrary, { maxLength: 20 }), (steps) => {
      const store = new GlobalStore({ ownerOrder: ORDER });
      const wanted = new Map<string, ReturnType<typeof sampleService>>();
      for (const step of steps) take(store, step, wanted);
      const inForce = [...store.state().services.values()].map((state) => state.service);
      const claims = inForce.flatMap(claimsOf).map((claim) => claim.id);
      expect(new Set(claims).size, "no address is held twice").toBe(claims.length);
      const waiting = store.conflicts();
      expect(inForce.length + waiting.length, "nothing is lost").toBe(wanted.size);
      for (const { owner, key, what, heldBy } of waiting) {
        const holder = heldBy.split(" of ").at(-1) ?? "";
        expect(rank(holder), `${key} of ${owner} waits for ${what}`).toBeLessThan(rank(owner));
        const [, holderKey = ""] = heldBy.split(" ");
        expect(store.ownerOf("Service", holderKey), `${heldBy} is in force`).toBe(holder);
      }
      for (const service of inForce) {
        const owner = store.ownerOf("Service", `default/${service.name}`);
        expect(wanted.get(`${owner} ${service.name}`)).toEqual(service);
      }
    }),
    { numRuns: 1000 },
  );
});

test("without an order, after any history with refusals no address is held twice", () => {
  fc.assert(
    fc.property(fc.array(stepArbitrary, { maxLength: 20 }), (steps) => {
      const store = new GlobalStore();
      for (const { owner, name, clusterIPs, deletes } of steps) {
        const before = store.revision;
        try {
          store.transact(owner, (tx) =>
            deletes
              ? tx.delete("Service", `default/${name}`)
              : tx.set(sampleService({ name, clusterIPs })),
          );
        } catch {
          expect(store.revision).toBe(before);
        }
      }
      const claims = [...store.state().services.values()].flatMap(({ service }) =>
        claimsOf(service).map((claim) => claim.id),
      );
      expect(new Set(claims).size).toBe(claims.length);
      expect(store.conflicts()).toEqual([]);
    }),
  );
});

test("what fits of a transaction is applied, and what clashes stays as it was", () => {
  const store = new GlobalStore();
  store.transact("file", (tx) => tx.set(sampleService({ name: "a", clusterIPs: ["10.0.0.1"] })));
  const own = sampleService({ name: "b", clusterIPs: ["10.0.0.2"] });
  store.transact("etcd", (tx) => tx.set(own));
  const { refused, changes } = store.transactFitting("etcd", (tx) =>
    tx.replaceAll([
      sampleService({ name: "b", clusterIPs: ["10.0.0.1"] }),
      // Counts on what b would have given up.
      sampleService({ name: "c", clusterIPs: ["10.0.0.2"] }),
      sampleService({ name: "a", clusterIPs: [] }),
      sampleService({ name: "d", clusterIPs: ["10.0.0.3"] }),
    ]),
  );
  expect(refused.map(({ key, what }) => `${key}: ${what}`)).toEqual([
    "default/b: cluster IP 10.0.0.1",
    "default/a: Service default/a",
    "default/c: cluster IP 10.0.0.2",
  ]);
  expect(changes.map(({ action, key }) => `${action} ${key}`)).toEqual(["create default/d"]);
  expect(store.get("Service", "default/b")).toEqual(own);
});

test("a clash within one owner is refused with an order as without one, also where its object waits", () => {
  const store = new GlobalStore({ ownerOrder: ["file", "control"] });
  const service = (name: string, ...clusterIPs: readonly string[]) =>
    sampleService({ name, clusterIPs });
  store.transact("file", (tx) => tx.set(service("f", "10.0.0.1")));
  store.transact("control", (tx) => tx.set(service("held", "10.0.0.2")));
  store.transact("control", (tx) => tx.set(service("waits", "10.0.0.1", "10.0.0.3")));
  const taken = expect.objectContaining({ code: "ERR_ADDRESS_TAKEN" });
  for (const ip of ["10.0.0.1", "10.0.0.2", "10.0.0.3"]) {
    expect(() => store.transact("control", (tx) => tx.set(service("new", ip)))).toThrow(taken);
  }
  expect(store.conflicts().map(({ key }) => key)).toEqual(["default/waits"]);
  store.transact("control", (tx) => {
    tx.set(service("waits", "10.0.0.3"));
    tx.set(service("new", "10.0.0.1"));
  });
  expect(store.conflicts().map(({ key }) => key)).toEqual(["default/new"]);
});
