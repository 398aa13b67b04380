/** What changed between two steps: each key with its value before. */
export type Befores<V> = ReadonlyMap<string, V>;

interface Entry<V> {
  /** The number of the step that this change leads to. */
  step: number;
  readonly befores: Map<string, V>;
}

/** The place of one watcher in a history. */
export interface Cursor<V> {
  /**
   * Moves to the present and returns what changed since the last call, as one step. Undefined where
   * it fell so far behind that this is no longer known: read the whole state instead.
   */
  advance(): Befores<V> | undefined;
  close(): void;
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

/** How many times `limit` a history may grow while most watchers still need it. */
const HARD_LIMIT_FACTOR = 20;
/** The share of watchers that may be left behind for the sake of memory. */
const LAGGARD_SHARE = 0.1;

/**
 * The values that were replaced since the steps that watchers have seen. A watcher costs the number
 * of its step; a replaced value is kept once for all watchers, and only while one of them needs it.
 *
 * Steps between which no watcher stands are merged, so a watcher that stopped holds at most one old
 * value a key. Beyond `limit` old values, the few watchers that lag furthest are given up: they read
 * the whole state when they come back.
 */
export class History<V> {
  readonly #limit: number;
  #step = 0;
  #entries: Entry<V>[] = [];
  #size = 0;
  readonly #cursors = new Set<HistoryCursor<V>>();
  readonly #standing = new Map<number, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Old values held at present. */
  get size(): number {
    return this.#size;
  }

  /** Whether anyone listens: what would be recorded for nobody need not be gathered. */
  get isWatched(): boolean {
    return this.#cursors.size > 0;
  }

  cursor(): Cursor<V> {
    const cursor = new HistoryCursor<V>(this, this.#step);
    this.#cursors.add(cursor);
    this.#stand(cursor.step, 1);
    return cursor;
  }

  /** Adds a step: the keys that change with their values so far. */
  record(befores: Map<string, V>): void {
    if (befores.size === 0 || this.#cursors.size === 0) return;
    const previous = this.#step;
    this.#step += 1;
    this.#entries.push({ step: this.#step, befores });
    this.#size += befores.size;
    this.#mergeAt(previous);
    this.#giveUpLaggards();
  }

  /** @private for its cursors */
  since(cursor: HistoryCursor<V>): Befores<V> | undefined {
    const from = cursor.step;
    cursor.step = this.#step;
    if (cursor.isLost) {
      cursor.isLost = false;
      this.#stand(cursor.step, 1);
      return undefined;
    }
    if (from === this.#step) return NOTHING;
    const needed = this.#entries.filter((entry) => entry.step > from);
    this.#stand(cursor.step, 1);
    this.#stand(from, -1);
    this.#forgetSeen();
    this.#mergeAt(from);
    const [first, second] = needed;
    if (first === undefined) return NOTHING;
    if (second === undefined) return first.befores;
    const merged = new Map(first.befores);
    for (const entry of needed.slice(1)) {
      for (const [key, before] of entry.befores) if (!merged.has(key)) merged.set(key, before);
    }
    return merged;
  }

  /** @private for its cursors */
  remove(cursor: HistoryCursor<V>): void {
    if (!this.#cursors.delete(cursor)) return;
    if (cursor.isLost) return;
    this.#stand(cursor.step, -1);
    this.#forgetSeen();
    this.#mergeAt(cursor.step);
  }

  #stand(step: number, by: number): void {
    const count = (this.#standing.get(step) ?? 0) + by;
    if (count === 0) this.#standing.delete(step);
    else this.#standing.set(step, count);
  }

  /** Makes one step of the two that meet at `step` where no watcher stands between them. */
  #mergeAt(step: number): void {
    if (this.#standing.has(step)) return;
    const at = this.#entries.findIndex((entry) => entry.step === step);
    const first = this.#entries[at];
    const second = this.#entries[at + 1];
    if (first === undefined || second === undefined) return;
    const sizes = first.befores.size + second.befores.size;
    if (sizes > this.#limit) return;
    first.step = second.step;
    for (const [key, before] of second.befores) {
      if (!first.befores.has(key)) first.befores.set(key, before);
    }
    this.#entries.splice(at + 1, 1);
    this.#size += first.befores.size - sizes;
  }

  /** Drops the steps that every watcher has seen. */
  #forgetSeen(): void {
    if (this.#entries.length === 0) return;
    let oldest = Number.POSITIVE_INFINITY;
    for (const step of this.#standing.keys()) oldest = Math.min(oldest, step);
    while (this.#entries[0] !== undefined && this.#entries[0].step <= oldest) this.#dropOldest();
  }

  /** The newest step is always kept: one big transaction is no reason to read everything anew. */
  #giveUpLaggards(): void {
    while (this.#size > this.#limit && this.#entries.length > 1) {
      const end = this.#entries[0]?.step ?? 0;
      const behind = [...this.#cursors].filter((cursor) => !cursor.isLost && cursor.step < end);
      const bearable = Math.max(1, this.#cursors.size * LAGGARD_SHARE);
      if (behind.length > bearable && this.#size <= this.#limit * HARD_LIMIT_FACTOR) return;
      for (const cursor of behind) {
        cursor.isLost = true;
        this.#stand(cursor.step, -1);
      }
      this.#dropOldest();
    }
  }

  #dropOldest(): void {
    this.#size -= this.#entries.shift()?.befores.size ?? 0;
  }
}

class HistoryCursor<V> implements Cursor<V> {
  readonly #history: History<V>;
  step: number;
  isLost = false;

  constructor(history: History<V>, step: number) {
    this.#history = history;
    this.step = step;
  }

  advance(): Befores<V> | undefined {
    return this.#history.since(this);
  }

  close(): void {
    this.#history.remove(this);
  }
}
