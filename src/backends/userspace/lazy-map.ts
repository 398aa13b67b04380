/** A map whose values are read when they are asked for: who wants one of many does not pay for all. */
export class LazyMap<V> implements ReadonlyMap<string, V> {
  readonly #keys: () => Iterable<string>;
  readonly #read: (key: string) => V | undefined;

  /** @param read undefined for a key that is not there */
  constructor(keys: () => Iterable<string>, read: (key: string) => V | undefined) {
    this.#keys = keys;
    this.#read = read;
  }

  get size(): number {
    return this.#all().size;
  }

  get(key: string): V | undefined {
    return this.#read(key);
  }

  has(key: string): boolean {
    return this.#read(key) !== undefined;
  }

  forEach(callback: (value: V, key: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [key, value] of this.#all()) callback(value, key, this);
  }

  entries(): MapIterator<[string, V]> {
    return this.#all().entries();
  }

  keys(): MapIterator<string> {
    return this.#all().keys();
  }

  values(): MapIterator<V> {
    return this.#all().values();
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries();
  }

  #all(): Map<string, V> {
    const all = new Map<string, V>();
    for (const key of this.#keys()) {
      const value = this.#read(key);
      if (value !== undefined) all.set(key, value);
    }
    return all;
  }
}
