import type { ModelObject } from "../core/model/object.ts";
import { GlobalStore } from "../core/store/global-store.ts";
import { loadState } from "../sources/file/load-state.ts";

export interface LoadedStore {
  readonly store: GlobalStore;
  readonly objects: readonly ModelObject[];
  /** What was left out, in words. */
  readonly skipped: readonly string[];
}

const OWNER = "file";

/**
 * The state of a file or folder in a store of its own, read once.
 * @throws CoreError with all that is wrong
 */
export async function loadStore(path: string, maxFileBytes: number): Promise<LoadedStore> {
  const { objects, skipped } = await loadState(path, { maxFileBytes });
  const store = new GlobalStore();
  store.transact(OWNER, (transaction) => transaction.replaceAll(objects));
  store.markSynced(OWNER);
  return { store, objects, skipped };
}
