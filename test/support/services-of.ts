import type { ModelObject } from "../../src/core/model/object.ts";
import { createFullStateSink, type ServiceEndpoints } from "../../src/core/sinks/fullstate.ts";
import { GlobalStore } from "../../src/core/store/global-store.ts";
import { NodeWatcher } from "../../src/core/view/node-watcher.ts";

/** What a node is sent of these objects, as a full-state backend gets it. */
export async function servicesOf(
  objects: readonly ModelObject[],
  nodeName = "node-a",
): Promise<ReadonlyMap<string, ServiceEndpoints>> {
  const store = new GlobalStore();
  store.transact("test", (transaction) => transaction.replaceAll(objects));
  store.markSynced("test");
  const watcher = new NodeWatcher(store, nodeName, []);
  let services: ReadonlyMap<string, ServiceEndpoints> = new Map();
  const sink = createFullStateSink({
    waitRequest: () => ({ nodeName, sets: [] }),
    apply: (state) => {
      services = new Map(state.services);
    },
  });
  for (const op of watcher.poll() ?? []) {
    if (op.op === "reset") sink.reset();
    else await sink.send(op);
  }
  watcher.close();
  return services;
}
