// node backend.mjs STATE-FILE NODE: a data plane that prints where each service of a node leads to.
import { GlobalStore, loadState } from "portolan";
import { createFullStateSink, follow } from "portolan/backends";

const [file = "state.yaml", nodeName = "node"] = process.argv.slice(2);
const end = new AbortController();

const sink = createFullStateSink({
  waitRequest: () => ({ nodeName, sets: [] }),
  // All that should be so, and what of it changed; where it rejects it is called again.
  apply: async ({ services }, changed) => {
    for (const key of changed.services) {
      const known = services.get(key);
      const places = known?.endpoints.flatMap(({ endpoint }) => endpoint.addresses) ?? [];
      console.log(known === undefined ? `${key} is gone` : `${key} -> ${places.join(", ")}`);
    }
    end.abort(); // A data plane that stays would go on, and hear of each change.
  },
});

const store = new GlobalStore();
const { objects } = await loadState(file);
store.transact("me", (transaction) => transaction.replaceAll(objects));
store.markSynced("me");
await follow(store, sink, { signal: end.signal });
