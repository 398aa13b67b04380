import { describe, type Kind, keyOf, type ModelObject } from "../../core/model/object.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";

interface Wish {
  readonly kind: Kind;
  readonly key: string;
  /** Undefined: it is to go. */
  readonly object: ModelObject | undefined;
}

interface Refused extends Wish {
  readonly reason: string;
}

/**
 * Gathers changes and writes them in one transaction. In a cluster two services may claim one external
 * address: the API does not mind. So what fits is written, and the rest waits until the address is free.
 */
export class StoreWriter {
  readonly #store: GlobalStore;
  readonly #owner: string;
  #wishes = new Map<string, Wish>();
  readonly #refused = new Map<string, Refused>();

  constructor(store: GlobalStore, owner: string) {
    this.#store = store;
    this.#owner = owner;
  }

  set(object: ModelObject): void {
    this.#wish({ kind: object.kind, key: keyOf(object), object });
  }

  delete(kind: Kind, key: string): void {
    this.#wish({ kind, key, object: undefined });
  }

  /** What waits, and why. */
  refused(): readonly string[] {
    return [...this.#refused.values()].map(({ reason }) => reason);
  }

  /** Writes all that was gathered, and what waits, which may fit by now. */
  flush(): void {
    if (this.#wishes.size === 0) return;
    const wishes = new Map([...this.#refused, ...this.#wishes]);
    this.#wishes = new Map();
    this.#refused.clear();
    const { refused } = this.#store.transactFitting(this.#owner, (transaction) => {
      for (const { kind, key, object } of wishes.values()) {
        if (object === undefined) transaction.delete(kind, key);
        else transaction.set(object);
      }
    });
    for (const { kind, key, what, heldBy } of refused) {
      const id = describe(kind, key);
      const wish = wishes.get(id);
      if (wish === undefined) continue;
      this.#refused.set(id, { ...wish, reason: `${id}: ${what} is held by ${heldBy}` });
    }
  }

  #wish(wish: Wish): void {
    const id = describe(wish.kind, wish.key);
    this.#refused.delete(id);
    this.#wishes.set(id, wish);
  }
}
