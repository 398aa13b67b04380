import { deepEqual } from "../model/equal.ts";
import { KINDS, type Kind, type ModelObject } from "../model/object.ts";
import type { GlobalStore, ObjectBefore } from "../store/global-store.ts";
import type { Cursor } from "../store/history.ts";
import { RESET, type ResetOp, SYNC, type SyncOp } from "./ops.ts";

/** The words between the store and a watcher of the whole state. */
export type ObjectOp =
  /** With the object as it was last sent, where it was. */
  | { readonly op: "set"; readonly object: ModelObject; readonly before: ModelObject | undefined }
  /** With the object as it was last sent. */
  | { readonly op: "delete"; readonly object: ModelObject }
  | SyncOp
  | ResetOp;

/** The changes of the global state. Like a `NodeWatcher`, it holds a place and no copy. */
export class ObjectWatcher {
  readonly #store: GlobalStore;
  readonly #kinds: ReadonlySet<Kind>;
  readonly #cursor: Cursor<ObjectBefore>;
  #isStarted = false;

  constructor(store: GlobalStore, kinds: readonly Kind[] = KINDS) {
    this.#store = store;
    this.#kinds = new Set(kinds);
    this.#cursor = store.objectCursor();
  }

  /** The next change, ending with `sync`; see `NodeWatcher.poll`. */
  poll(): readonly ObjectOp[] | undefined {
    if (!this.#isStarted && !this.#store.isSynced()) return undefined;
    const touched = this.#cursor.advance();
    if (!this.#isStarted || touched === undefined) {
      this.#isStarted = true;
      return this.#whole();
    }
    const sets: ObjectOp[] = [];
    const deletes: ObjectOp[] = [];
    for (const { kind, key, object: before } of touched.values()) {
      if (!this.#kinds.has(kind)) continue;
      const after = this.#store.get(kind, key);
      if (deepEqual(after, before)) continue;
      if (after !== undefined) sets.push({ op: "set", object: after, before });
      else if (before !== undefined) deletes.push({ op: "delete", object: before });
    }
    if (sets.length + deletes.length === 0) return undefined;
    return [...sets, ...deletes, SYNC];
  }

  /** @throws CoreError ERR_ABORTED when the signal ends the wait */
  async next(signal?: AbortSignal): Promise<readonly ObjectOp[]> {
    for (;;) {
      const ops = this.poll();
      if (ops !== undefined) return ops;
      await this.#store.changed(signal);
    }
  }

  close(): void {
    this.#cursor.close();
  }

  #whole(): readonly ObjectOp[] {
    const ops: ObjectOp[] = [RESET];
    for (const kind of this.#kinds) {
      for (const object of this.#store.objects(kind))
        ops.push({ op: "set", object, before: undefined });
    }
    ops.push(SYNC);
    return ops;
  }
}
