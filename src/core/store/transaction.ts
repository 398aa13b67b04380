import { KINDS, type Kind, keyOf, type ModelObject } from "../model/object.ts";
import type { Wishes } from "./resolution.ts";

/** What a source says in one step. Of several words about one key the last one holds. */
export interface Transaction {
  set(object: ModelObject): void;
  /** Deleting what is absent, or what another owner wrote, does nothing. */
  delete(kind: Kind, key: string): void;
  /** From now on the owner has just these. */
  replaceAll(objects: Iterable<ModelObject>): void;
}

/** Gathers what a transaction says until it is resolved. */
export class StagedTransaction implements Transaction {
  readonly #owned: () => Iterable<readonly [Kind, string]>;
  readonly #wishes = new Map<Kind, Map<string, ModelObject | undefined>>(
    KINDS.map((kind) => [kind, new Map()]),
  );

  /** @param owned lists all that the owner has at present */
  constructor(owned: () => Iterable<readonly [Kind, string]>) {
    this.#owned = owned;
  }

  set(object: ModelObject): void {
    this.#wishes.get(object.kind)?.set(keyOf(object), object);
  }

  delete(kind: Kind, key: string): void {
    this.#wishes.get(kind)?.set(key, undefined);
  }

  replaceAll(objects: Iterable<ModelObject>): void {
    for (const byKey of this.#wishes.values()) byKey.clear();
    for (const object of objects) this.set(object);
    for (const [kind, key] of this.#owned()) {
      if (!this.#wishes.get(kind)?.has(key)) this.delete(kind, key);
    }
  }

  get wishes(): Wishes {
    return this.#wishes;
  }
}
