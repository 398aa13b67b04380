/**
 * `stalled FILE with|without`: prints the megabytes of the heap after many changes, with or without a
 * watcher that read once and never again. Otherwise both runs do the same: the difference is its cost.
 */
import { NodeWatcher } from "../../src/core/view/node-watcher.ts";
import { nodeName } from "../support/cluster.ts";
import { createStoreFrom } from "../support/cluster-store.ts";
import { EndpointChanges } from "../support/endpoint-changes.ts";
import { collectGarbage, heapMegabytes } from "../support/measure.ts";
import { NodeState } from "../support/node-state.ts";

const CHANGES = 10_000;

const [path = "", variant] = process.argv.slice(2);
const store = createStoreFrom(path);
const reader = new NodeWatcher(store, nodeName(0), []);
const changes = new EndpointChanges(store, reader.poll() ?? [], () => true);
const stalled = new NodeWatcher(store, nodeName(1), []);
stalled.poll();
if (variant === "without") stalled.close();
changeMany();
collectGarbage();
console.log(JSON.stringify(heapMegabytes()));
stalled.close();
checkCatchUp();

function changeMany(): void {
  for (let round = 0; round < CHANGES; round += 1) {
    changes.next().commit();
    reader.poll();
  }
}

/** One that reads again is sent what brings it to the present. */
function checkCatchUp(): void {
  const late = new NodeWatcher(store, nodeName(1), []);
  const sent = new NodeState();
  sent.apply(late.poll() ?? []);
  changeMany();
  sent.apply(late.poll() ?? []);
  const fresh = new NodeState();
  fresh.apply(new NodeWatcher(store, nodeName(1), []).poll() ?? []);
  sent.expectEqual(fresh);
}
