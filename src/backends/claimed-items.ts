/** How what should be there differs from what is there. */
export interface ItemChanges<V> {
  readonly removed: readonly string[];
  /** New ones, and those whose value is another. */
  readonly set: readonly (readonly [string, V])[];
}

interface Claimed<V> {
  readonly value: V;
  readonly count: number;
}

/**
 * Things that several need, each there once while anybody claims it. What is there changes only by
 * `commit`: after a transaction that failed, `changes` tells the same again.
 */
export class ClaimedItems<V> {
  readonly #equal: (a: V, b: V) => boolean;
  readonly #isBarred: (key: string) => boolean;
  readonly #claimed = new Map<string, Claimed<V>>();
  readonly #applied = new Map<string, V>();
  readonly #touched = new Set<string>();

  /** @param isBarred whether something must not be there, whoever claims it */
  constructor(equal: (a: V, b: V) => boolean, isBarred: (key: string) => boolean = () => false) {
    this.#equal = equal;
    this.#isBarred = isBarred;
  }

  get size(): number {
    return this.#claimed.size;
  }

  /** The last one who claims says what it is. */
  claim(key: string, value: V): void {
    const count = (this.#claimed.get(key)?.count ?? 0) + 1;
    this.#claimed.set(key, { value, count });
    this.#touched.add(key);
  }

  release(key: string): void {
    const claimed = this.#claimed.get(key);
    if (claimed === undefined) return;
    if (claimed.count === 1) this.#claimed.delete(key);
    else this.#claimed.set(key, { ...claimed, count: claimed.count - 1 });
    this.#touched.add(key);
  }

  /** Says that these are there, claimed or not. */
  markApplied(items: Iterable<readonly [string, V]>): void {
    for (const [key, value] of items) {
      this.#applied.set(key, value);
      this.#touched.add(key);
    }
  }

  *all(): Generator<readonly [string, V]> {
    for (const [key, { value }] of this.#claimed) yield [key, value];
  }

  has(key: string): boolean {
    return this.#claimed.has(key);
  }

  /**
   * What is there as it should be is not looked at again before somebody touches it.
   * @param keys only of these
   */
  changes(keys: ReadonlySet<string> = this.#touched): ItemChanges<V> {
    const removed: string[] = [];
    const set: [string, V][] = [];
    for (const key of keys) {
      if (!this.#touched.has(key)) continue;
      const before = this.#applied.get(key);
      const now = this.#wanted(key);
      if (now !== undefined && (before === undefined || !this.#equal(before, now))) {
        set.push([key, now]);
      } else if (now === undefined && before !== undefined) removed.push(key);
      else this.#touched.delete(key);
    }
    return { removed, set };
  }

  commit(): void {
    for (const key of [...this.#touched]) this.accept(key);
  }

  /** Says that these, and no others, are there, whatever was thought before. */
  adopt(items: Iterable<readonly [string, V]>): void {
    for (const key of this.#applied.keys()) this.#touched.add(key);
    this.#applied.clear();
    this.markApplied(items);
    for (const key of this.#claimed.keys()) this.#touched.add(key);
  }

  /** What is there, as far as is known. */
  applied(key: string): V | undefined {
    return this.#applied.get(key);
  }

  /** This one is there so for the time being, and that is nothing to change. */
  tolerate(key: string, value: V): void {
    this.#applied.set(key, value);
    this.#touched.delete(key);
  }

  /** This one is there now as it is claimed, or gone where nobody claims it. */
  accept(key: string): void {
    const wanted = this.#wanted(key);
    if (wanted === undefined) this.#applied.delete(key);
    else this.#applied.set(key, wanted);
    this.#touched.delete(key);
  }

  #wanted(key: string): V | undefined {
    return this.#isBarred(key) ? undefined : this.#claimed.get(key)?.value;
  }
}
