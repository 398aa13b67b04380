import { keyOf, type ModelObject } from "../core/model/object.ts";
import { TOPOLOGY } from "../core/route/scenarios/topology.ts";
import type { Sink } from "../core/sinks/sink.ts";
import { GlobalStore } from "../core/store/global-store.ts";
import { NodeWatcher } from "../core/view/node-watcher.ts";
import type { SetName } from "../core/view/ops.ts";

/** Brings just these objects to a sink, as the node under test is sent them. */
export async function applyObjects(
  sink: Sink,
  objects: readonly ModelObject[],
  sets: readonly SetName[],
): Promise<void> {
  const store = new GlobalStore();
  store.transact("scenario", (transaction) => transaction.replaceAll(objects));
  store.markSynced("scenario");
  const watcher = new NodeWatcher(store, TOPOLOGY.node, sets);
  for (const op of watcher.poll() ?? []) {
    if (op.op === "reset") sink.reset();
    else await sink.send(op);
  }
  watcher.close();
}

/** For a state in which a client can only get bound to that endpoint. */
export function isNoOtherThan(endpoint: string): (object: ModelObject) => boolean {
  return (object) => object.kind !== "Endpoint" || keyOf(object) === endpoint;
}
