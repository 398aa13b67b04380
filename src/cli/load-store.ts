import type { ModelObject } from "../core/model/object.ts";
import { GlobalStore } from "../core/store/global-store.ts";
import type { CliContext } from "./command-spec.ts";
import { readState } from "./read-state.ts";

export interface LoadedStore {
  readonly store: GlobalStore;
  readonly objects: readonly ModelObject[];
  /** What was left out, in words. */
  readonly skipped: readonly string[];
}

const OWNER = "file";

/**
 * The state of a file, folder or standard input (`-`) in a store of its own, read once.
 * @throws CoreError with all that is wrong
 */
export async function loadStore(
  path: string,
  maxFileBytes: number,
  context: CliContext,
): Promise<LoadedStore> {
  const { objects, skipped } = await readState(path, maxFileBytes, context);
  const store = new GlobalStore();
  store.transact(OWNER, (transaction) => transaction.replaceAll(objects));
  store.markSynced(OWNER);
  return { store, objects, skipped };
}
