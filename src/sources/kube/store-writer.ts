import { CoreError } from "../../core/errors.ts";
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
 * address: the API does not mind. So where the store refuses a transaction, what fits is written and
 * the rest waits until the address is free.
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

  /** Writes all that was gathered. */
  flush(): void {
    if (this.#wishes.size === 0) return;
    const wishes = [...this.#wishes.values()];
    this.#wishes = new Map();
    if (this.#write(wishes) !== undefined) this.#writeEach(wishes);
    if (this.#refused.size > 0) this.#writeEach([...this.#refused.values()]);
  }

  #wish(wish: Wish): void {
    const id = describe(wish.kind, wish.key);
    this.#refused.delete(id);
    this.#wishes.set(id, wish);
  }

  /** What goes makes room for what comes. */
  #writeEach(wishes: readonly Wish[]): void {
    this.#write(wishes.filter(({ object }) => object === undefined));
    for (const wish of wishes) {
      if (wish.object === undefined) continue;
      const id = describe(wish.kind, wish.key);
      const reason = this.#write([wish]);
      if (reason === undefined) this.#refused.delete(id);
      else this.#refused.set(id, { ...wish, reason });
    }
  }

  /** @returns why the store refuses it; undefined where it does not */
  #write(wishes: readonly Wish[]): string | undefined {
    try {
      this.#store.transact(this.#owner, (transaction) => {
        for (const { kind, key, object } of wishes) {
          if (object === undefined) transaction.delete(kind, key);
          else transaction.set(object);
        }
      });
      return undefined;
    } catch (error) {
      if (!(error instanceof CoreError)) throw error;
      return error.message;
    }
  }
}
