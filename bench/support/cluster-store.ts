import { readFileSync } from "node:fs";
import { GlobalStore } from "../../src/core/store/global-store.ts";
import { parseState } from "../../src/sources/file/parse-state.ts";

/** The source that owns everything in a benchmark's store. */
export const OWNER = "bench";

/** A synced store with what a state file holds. */
export function createStoreFrom(path: string): GlobalStore {
  const store = new GlobalStore();
  store.register(OWNER);
  const { objects } = parseState([{ name: path, bytes: readFileSync(path) }]);
  store.transact(OWNER, (tx) => tx.replaceAll(objects));
  store.markSynced(OWNER);
  return store;
}
