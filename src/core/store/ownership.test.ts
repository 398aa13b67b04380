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

function rank(owner: string): number {
  return ORDER.includes(owner) ? ORDER.indexOf(owner) : ORDER.length;
}

test("with an order of owners, after any history every claim is with its rightful holder", () => {
  fc.assert(
    fc.property(fc.array(stepArbitrary, { maxLength: 20 }), (steps) => {
      const store = new GlobalStore({ ownerOrder: ORDER });
      const wanted = new Map<string, ReturnType<typeof sampleService>>();
      for (const { owner, name, clusterIPs, deletes } of steps) {
        const service = sampleService({ name, clusterIPs });
        store.transact(owner, (tx) =>
          deletes ? tx.delete("Service", `default/${name}`) : tx.set(service),
        );
        if (deletes) wanted.delete(`${owner} ${name}`);
        else wanted.set(`${owner} ${name}`, service);
      }
      const inForce = [...store.state().services.values()].map((state) => state.service);
      const claims = inForce.flatMap(claimsOf).map((claim) => claim.id);
      expect(new Set(claims).size, "no address is held twice").toBe(claims.length);
      const waiting = store.conflicts();
      expect(inForce.length + waiting.length, "nothing is lost").toBe(wanted.size);
      for (const { owner, key, what, heldBy } of waiting) {
        const holder = heldBy.split(" of ").at(-1) ?? "";
        expect(rank(holder), `${key} of ${owner} waits for ${what}`).toBeLessThanOrEqual(
          rank(owner),
        );
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
