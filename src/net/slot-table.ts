const NONE = -1;

/**
 * Values by slot and generation. A slot is used again after its value was removed, under the next
 * generation: an old pair finds nothing. Generations are 32 bits wide and go round.
 */
export class SlotTable<T> {
  readonly #values: (T | undefined)[] = [];
  readonly #generations: number[] = [];
  readonly #free: number[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** How many slots there are, used or not. */
  get capacity(): number {
    return this.#values.length;
  }

  /** What is in a slot now, under whichever generation. */
  at(slot: number): T | undefined {
    return this.#values[slot];
  }

  /** Returns the slot; `generationOf` tells its generation. */
  add(value: T): number {
    const slot = this.#free.pop() ?? this.#values.length;
    if (slot === this.#values.length) this.#generations.push(0);
    this.#values[slot] = value;
    this.#size += 1;
    return slot;
  }

  generationOf(slot: number): number {
    return this.#generations[slot] ?? NONE;
  }

  get(slot: number, generation: number): T | undefined {
    return this.#generations[slot] === generation ? this.#values[slot] : undefined;
  }

  /** Whether it was there. */
  remove(slot: number, generation: number): boolean {
    if (this.get(slot, generation) === undefined) return false;
    this.#values[slot] = undefined;
    this.#generations[slot] = (generation + 1) >>> 0;
    this.#free.push(slot);
    this.#size -= 1;
    return true;
  }

  *values(): IterableIterator<T> {
    for (const value of this.#values) if (value !== undefined) yield value;
  }
}
