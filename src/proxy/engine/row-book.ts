import type { CounterBlocks } from "../stats/counter-blocks.ts";

/**
 * Which row of the counters belongs to what. A row whose owner is gone is used again only when
 * nothing of it is open any more.
 */
export class RowBook {
  readonly #blocks: CounterBlocks;
  #rows = new Map<string, number>();
  #retired: number[] = [];

  constructor(blocks: CounterBlocks) {
    this.#blocks = blocks;
  }

  /** The row of that owner; a fresh one where it has none. */
  rowOf(owner: string): number {
    const known = this.#rows.get(owner);
    if (known !== undefined) return known;
    this.#reclaim();
    const row = this.#blocks.take();
    this.#rows.set(owner, row);
    return row;
  }

  /** Only these own rows from now on; the loops know already. */
  keepOnly(owners: ReadonlySet<string>): void {
    const kept = new Map<string, number>();
    for (const [owner, row] of this.#rows) {
      if (owners.has(owner)) kept.set(owner, row);
      else this.#retired.push(row);
    }
    this.#rows = kept;
  }

  #reclaim(): void {
    const isOpen = (row: number): boolean => this.#blocks.counts(row).connections > 0;
    for (const row of this.#retired) if (!isOpen(row)) this.#blocks.giveBack(row);
    this.#retired = this.#retired.filter(isOpen);
  }
}
