import type { ModelObject } from "../core/model/object.ts";
import { createFullStateSink, type FullState } from "../core/sinks/fullstate.ts";
import { GlobalStore } from "../core/store/global-store.ts";
import { NodeWatcher } from "../core/view/node-watcher.ts";
import { ALL_SETS } from "../core/view/ops.ts";

/** What a node is sent of these objects, as the backend gets it. */
export async function fullStateOf(
  objects: readonly ModelObject[],
  nodeName = "node-a",
): Promise<FullState> {
  const store = new GlobalStore();
  store.transact("test", (transaction) => transaction.replaceAll(objects));
  store.markSynced("test");
  const watcher = new NodeWatcher(store, nodeName, ALL_SETS);
  let result: FullState | undefined;
  const sink = createFullStateSink({
    waitRequest: () => ({ nodeName, sets: ALL_SETS }),
    apply: (state) => {
      result = state;
    },
  });
  for (const op of watcher.poll() ?? []) {
    if (op.op === "reset") sink.reset();
    else await sink.send(op);
  }
  watcher.close();
  if (result === undefined) throw new Error("the watcher sent no state");
  return result;
}
