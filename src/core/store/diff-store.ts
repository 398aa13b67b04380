/** Ordered changes between two states; apply `deleted` first to free names. */
export interface Diff<K, V> {
  readonly deleted: readonly K[];
  readonly created: readonly (readonly [K, V])[];
  readonly updated: readonly (readonly [K, V])[];
}

/**
 * Keyed state in groups that reports how what should exist differs from what was last accepted. A
 * backend refills the group of each service that changed:
 *
 *     for (const service of changed) store.replace(service.key, rulesOf(service));
 *     await apply(store.diff());
 *     store.commit();
 *
 * The cost follows the groups touched, not the size of the state. Nothing is accepted before
 * `commit`: after a failed apply the next `diff` reports the same changes again. Two groups that hold
 * the same key hold two things; a backend that shares one object between services counts them.
 */
export class DiffStore<G, K, V extends string | object> {
  readonly #equal: (a: V, b: V) => boolean;
  readonly #accepted = new Map<G, ReadonlyMap<K, V>>();
  readonly #touched = new Map<G, ReadonlyMap<K, V>>();

  /** @param equal tells whether a value is unchanged; identity by default. */
  constructor(equal: (a: V, b: V) => boolean = Object.is) {
    this.#equal = equal;
  }

  /** Says all that should exist in `group` from now on; empty removes it. */
  replace(group: G, entries: Iterable<readonly [K, V]>): void {
    this.#touched.set(group, new Map(entries));
  }

  /** Empties every group that is not refilled before the next `diff`: the whole state is new. */
  replaceAll(): void {
    for (const group of this.#accepted.keys()) this.#touched.set(group, new Map());
  }

  /** Compares the touched groups without changing anything. */
  diff(): Diff<K, V> {
    const deleted: K[] = [];
    const created: [K, V][] = [];
    const updated: [K, V][] = [];
    for (const [group, next] of this.#touched) {
      const before = this.accepted(group);
      for (const key of before.keys()) if (!next.has(key)) deleted.push(key);
      for (const [key, value] of next) {
        const old = before.get(key);
        if (old === undefined) created.push([key, value]);
        else if (!this.#equal(old, value)) updated.push([key, value]);
      }
    }
    return { deleted, created, updated };
  }

  /** Accepts what was last compared. */
  commit(): void {
    for (const [group, next] of this.#touched) {
      if (next.size === 0) this.#accepted.delete(group);
      else this.#accepted.set(group, next);
    }
    this.#touched.clear();
  }

  /** What was last accepted in `group`. */
  accepted(group: G): ReadonlyMap<K, V> {
    return this.#accepted.get(group) ?? new Map();
  }
}
