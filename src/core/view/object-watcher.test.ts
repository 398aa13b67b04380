import { expect, test } from "vitest";
import { sampleEndpoint, sampleNode, sampleService } from "../../../test/support/samples.ts";
import { keyOf } from "../model/object.ts";
import { GlobalStore } from "../store/global-store.ts";
import { type ObjectOp, ObjectWatcher } from "./object-watcher.ts";

function words(ops: readonly ObjectOp[] | undefined): string[] | undefined {
  return ops?.map((op) =>
    "object" in op ? `${op.op} ${op.object.kind} ${keyOf(op.object)}` : op.op,
  );
}

const web = sampleService({ name: "web" });
const endpoint = sampleEndpoint({ group: "web", name: "a", addresses: ["10.1.0.1"] });

test("the whole state comes first, then what changed since, as one step", () => {
  const store = new GlobalStore();
  store.transact("test", (tx) => tx.set(web));
  const watcher = new ObjectWatcher(store);
  expect(words(watcher.poll())).toEqual(["reset", "set Service default/web", "sync"]);
  store.transact("test", (tx) => tx.set(endpoint));
  store.transact("test", (tx) => tx.set({ ...endpoint, weight: 2 }));
  store.transact("test", (tx) => tx.delete("Service", "default/web"));
  const ops = watcher.poll();
  expect(words(ops)).toEqual(["set Endpoint default/web/a", "delete Service default/web", "sync"]);
  expect(ops?.[0]).toMatchObject({ object: { weight: 2 } });
  expect(watcher.poll()).toBeUndefined();
});

test("what came and went, and kinds that are not wanted, are not told", () => {
  const store = new GlobalStore();
  const watcher = new ObjectWatcher(store, ["Service", "Endpoint"]);
  expect(words(watcher.poll())).toEqual(["reset", "sync"]);
  store.transact("test", (tx) => tx.set(sampleNode({ name: "n" })));
  store.transact("test", (tx) => tx.set(web));
  store.transact("test", (tx) => tx.delete("Service", "default/web"));
  expect(watcher.poll()).toBeUndefined();
});

test("nothing is sent before all sources are synced, then also an empty state", async () => {
  const store = new GlobalStore();
  store.register("kube");
  const watcher = new ObjectWatcher(store);
  const first = watcher.next();
  store.transact("kube", (tx) => tx.set(web));
  store.markSynced("kube");
  expect(words(await first)).toEqual(["reset", "set Service default/web", "sync"]);
  watcher.close();
});

test("one that fell too far behind is sent the whole state again", () => {
  const store = new GlobalStore({ historyLimit: 2 });
  const watcher = new ObjectWatcher(store);
  watcher.poll();
  for (let n = 0; n < 9; n += 1) {
    store.transact("test", (tx) => tx.set(sampleService({ name: `s${n}` })));
  }
  expect(words(watcher.poll())?.[0]).toBe("reset");
});
