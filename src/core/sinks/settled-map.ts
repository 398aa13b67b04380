import { deepEqual } from "../model/equal.ts";

/**
 * What stands at each sync, and which keys differ from the last accepted one. Keys are touched while
 * operations come; `settle` looks at the touched ones only. An entry that says what it said before
 * keeps its identity and is not a change.
 */
export class SettledMap<V> {
  readonly #build: (key: string) => V | undefined;
  readonly #current = new Map<string, V>();
  readonly #changed = new Set<string>();
  readonly #touched = new Set<string>();

  /** @param build gives what a key holds now, undefined where it is gone. */
  constructor(build: (key: string) => V | undefined) {
    this.#build = build;
  }

  get current(): ReadonlyMap<string, V> {
    return this.#current;
  }

  get changed(): ReadonlySet<string> {
    return this.#changed;
  }

  touch(key: string): void {
    this.#touched.add(key);
  }

  touchAll(): void {
    for (const key of this.#current.keys()) this.#touched.add(key);
  }

  settle(): void {
    for (const key of this.#touched) {
      const next = this.#build(key);
      const before = this.#current.get(key);
      if (deepEqual(before, next)) continue;
      this.#changed.add(key);
      if (next === undefined) this.#current.delete(key);
      else this.#current.set(key, next);
    }
    this.#touched.clear();
  }

  /** The changes were applied: from now on they are none. */
  accept(): void {
    this.#changed.clear();
  }
}
