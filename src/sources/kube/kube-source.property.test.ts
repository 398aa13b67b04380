import fc from "fast-check";
import { expect, test } from "vitest";
import {
  expectedOf,
  followKube,
  objectsOf,
  startKubeServer,
} from "../../../test/support/kube-follow.ts";
import { kubeNode, kubeService, kubeSlice } from "../../../test/support/kube-objects.ts";
import type { Fault, KubeObject, KubeServer } from "../../../test/support/kube-server.ts";
import { keyOf } from "../../core/model/object.ts";

const RUNS = 150;
const NAMES = ["a", "b", "c", "d"] as const;
/** Is there from the start and never goes: nobody may ever be told that it went. */
const CONSTANT = kubeService("constant", 200);

type Step =
  | { readonly do: "put" | "remove"; readonly object: KubeObject }
  | { readonly do: "fault"; readonly fault: Fault }
  | { readonly do: "drop" | "compact" | "bookmark" | "turn" };

const address = fc.integer({ min: 1, max: 6 }).map((last) => `10.0.0.${last}`);
const name = fc.constantFrom(...NAMES);

const anObject: fc.Arbitrary<KubeObject> = fc.oneof(
  fc.tuple(name, fc.constantFrom(80, 81), fc.boolean()).map(([one, port, isHeadless]) =>
    kubeService(one, NAMES.indexOf(one) + 1, {
      ports: [{ name: "http", port }],
      ...(isHeadless && { clusterIP: "None", clusterIPs: ["None"] }),
    }),
  ),
  fc
    .tuple(name, name, fc.uniqueArray(address, { maxLength: 4 }))
    .map(([service, own, addresses]) => kubeSlice(service, `slice-${own}`, addresses)),
  name.map((one) => kubeNode(`node-${one}`)),
);

const aFault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({
    on: fc.constantFrom("list", "watch", "any"),
    does: fc.constant("status"),
    status: fc.constantFrom(410, 429, 500, 503),
  }),
  fc.record({ on: fc.constantFrom("list", "watch"), does: fc.constant("half") }),
  fc.record({
    on: fc.constant("watch"),
    does: fc.constantFrom("end", "garbage", "twice", "bookmark", "expired"),
  }),
  fc.record({
    on: fc.constant("watch"),
    does: fc.constant("old"),
    by: fc.integer({ min: 1, max: 9 }),
  }),
  fc.record({
    on: fc.constant("list"),
    does: fc.constant("stale"),
    by: fc.integer({ min: 1, max: 9 }),
  }),
);

const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("put"), object: anObject }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("remove"), object: anObject }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("fault"), fault: aFault }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom("drop", "compact", "bookmark", "turn") }),
  },
);

/** Lets what is under way go on for a little. */
async function takeTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function take(server: KubeServer, step: Step): Promise<void> {
  switch (step.do) {
    case "put":
      return server.put(step.object);
    case "remove":
      return server.remove(step.object);
    case "fault":
      server.faults.push(step.fault);
      return;
    case "drop":
      return server.dropWatches();
    case "compact":
      return server.compact();
    case "bookmark":
      return server.bookmark();
    case "turn":
      return takeTurns();
  }
}

const byName = (objects: ReturnType<typeof objectsOf>) =>
  new Map(objects.map((object) => [`${object.kind} ${keyOf(object)}`, object]));

test("after any history of changes and faults the state is the server's", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 1, maxLength: 40 }), async (steps) => {
      const server = await startKubeServer();
      server.put(CONSTANT);
      const { store, source, changes } = await followKube([server.url]);
      for (const step of steps) await take(server, step);
      server.faults.length = 0;
      await expect.poll(() => store.isSynced(), { interval: 2 }).toBe(true);
      await expect
        .poll(() => byName(objectsOf(store)), { interval: 2, timeout: 5000 })
        .toEqual(byName(expectedOf(server)));
      expect(changes).not.toContain("delete Service shop/constant");
      await source.close();
      await server.close();
    }),
    { numRuns: RUNS },
  );
});
