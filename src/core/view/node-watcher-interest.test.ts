import fc from "fast-check";
import { expect, test } from "vitest";
import { sampleEndpoint, sampleNode, sampleService } from "../../../test/support/samples.ts";
import { GlobalStore } from "../store/global-store.ts";
import type { Transaction } from "../store/transaction.ts";
import { NodeWatcher } from "./node-watcher.ts";
import type { Op } from "./ops.ts";

const NAMES = ["web", "db", "dns"] as const;
const endpoint = (group: string, name: string) =>
  sampleEndpoint({ group, name, addresses: [`10.1.0.${name.charCodeAt(0)}`] });

function words(ops: readonly Op[] | undefined): string[] | undefined {
  return ops?.map((op) => ("path" in op ? `${op.op} ${op.set} ${op.path}` : op.op));
}

function watcherOf(store: GlobalStore, interest: ReadonlySet<string>): NodeWatcher {
  return new NodeWatcher(store, "n", [], undefined, interest);
}

test("with an interest only those services are told, and what changes in it is a change", () => {
  const store = new GlobalStore();
  store.transact("test", (tx) => {
    for (const name of ["web", "db"]) tx.set(sampleService({ name }));
    tx.set(endpoint("web", "a"));
    tx.set(endpoint("db", "x"));
  });
  const watcher = watcherOf(store, new Set(["default/web"]));
  expect(words(watcher.poll())).toEqual([
    "reset",
    "set services default/web",
    "set endpoints default/web/a",
    "sync",
  ]);
  store.transact("test", (tx) => tx.set(endpoint("db", "y")));
  expect(watcher.poll()).toBeUndefined();
  watcher.setInterest(new Set(["default/db", "default/absent"]));
  expect(words(watcher.poll())).toEqual([
    "set services default/db",
    "set endpoints default/db/x",
    "set endpoints default/db/y",
    "delete endpoints default/web/a",
    "delete services default/web",
    "sync",
  ]);
  store.transact("test", (tx) => {
    tx.set(sampleService({ name: "absent" }));
    tx.set(endpoint("web", "b"));
  });
  expect(words(watcher.poll())).toEqual(["set services default/absent", "sync"]);
});

type Act = (tx: Transaction, name: string, letter: string) => void;

const ACTS: readonly Act[] = [
  (tx, name, letter) => tx.set(endpoint(name, letter)),
  (tx, name, letter) => tx.delete("Endpoint", `default/${name}/${letter}`),
  (tx, name) => tx.set(sampleService({ name })),
  (tx, name) => tx.delete("Service", `default/${name}`),
  // Every service is looked at anew where the node moves.
  (tx, _, letter) => tx.set(sampleNode({ name: "n", zone: letter })),
];

function apply(held: Set<string>, ops: readonly Op[] | undefined): void {
  for (const op of ops ?? []) {
    if (op.op === "reset") held.clear();
    else if (op.op === "set") held.add(`${op.set} ${op.path}`);
    else if (op.op === "delete") held.delete(`${op.set} ${op.path}`);
  }
}

test("property: with any changing interest a follower has what a fresh look gives", () => {
  const step = fc.record({
    name: fc.constantFrom(...NAMES),
    letter: fc.constantFrom("a", "b"),
    act: fc.constantFrom(...ACTS),
    interest: fc.subarray([...NAMES]),
    looks: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const store = new GlobalStore();
      const watcher = watcherOf(store, new Set());
      const held = new Set<string>();
      for (const { name, letter, act, interest, looks } of steps) {
        store.transact("test", (tx) => act(tx, name, letter));
        const wanted = new Set(interest.map((each) => `default/${each}`));
        watcher.setInterest(wanted);
        if (!looks) continue;
        apply(held, watcher.poll());
        const fresh = new Set<string>();
        apply(fresh, watcherOf(store, wanted).poll());
        expect([...held].sort()).toEqual([...fresh].sort());
      }
    }),
  );
});
