import { CoreError } from "../../core/errors.ts";
import { type CheckCounts, CounterRow, ROW_WORDS, type TrafficCounts } from "./counter-row.ts";
import { LATENCY_BOUNDS_MS, LATENCY_BUCKETS, type LatencyHistogram } from "./latency-buckets.ts";

/** Rows of a block. */
const BLOCK_ROWS = 256;

/** Memory for the counters that one loop has of many things, as it is sent to all loops. */
export interface CounterBlock {
  /** Whose it is: the loop's place. */
  readonly loop: number;
  readonly index: number;
  readonly memory: SharedArrayBuffer;
}

function rowIn(words: Float64Array, row: number): CounterRow {
  return new CounterRow(words, (row % BLOCK_ROWS) * ROW_WORDS);
}

function blockOf(row: number): number {
  return Math.floor(row / BLOCK_ROWS);
}

/** The rows of one loop, inside it. */
export class LoopRows {
  readonly #loop: number;
  readonly #blocks: Float64Array[] = [];
  /** Those of the other loops; by their places, then as those of this one. */
  readonly #elsewhere = new Map<number, Float64Array[]>();

  constructor(loop: number) {
    this.#loop = loop;
  }

  /** Blocks come before the rows in them; one that is known already is ignored. */
  addBlock({ loop, index, memory }: CounterBlock): void {
    let blocks = this.#blocks;
    if (loop !== this.#loop) {
      blocks = this.#elsewhere.get(loop) ?? [];
      this.#elsewhere.set(loop, blocks);
    }
    blocks[index] ??= new Float64Array(memory);
  }

  /** @param row the number that `CounterBlocks.take` gave. */
  row(row: number): CounterRow {
    const words = this.#blocks[blockOf(row)];
    if (words !== undefined) return rowIn(words, row);
    throw new CoreError("ERR_NOT_FOUND", `row ${row} of the counters is in no block that is known`);
  }

  /** How many connections all other loops have open, of what has that row. */
  connectionsElsewhere(row: number): number {
    let connections = 0;
    for (const blocks of this.#elsewhere.values()) {
      const words = blocks[blockOf(row)];
      if (words !== undefined) connections += rowIn(words, row).connections;
    }
    return connections;
  }
}

/**
 * The counters of an engine: each listener, group and server has a row, and each loop its own copy of
 * it, so that no two threads write the same number. Reading sums the copies up. Loops come and go in
 * numbered places; what was counted in a place stays.
 */
export class CounterBlocks {
  readonly #blocks: CounterBlock[] = [];
  /** By place, then by index. */
  readonly #words: Float64Array[][] = [];
  readonly #free: number[] = [];
  #next = 0;

  /** @param loops the places that there are from the start. */
  constructor(loops: number) {
    this.ensureLoops(loops);
  }

  /** All blocks so far; one that was there stays where it is in the list. */
  get blocks(): readonly CounterBlock[] {
    return this.#blocks;
  }

  /** There are at least so many places from now on. */
  ensureLoops(loops: number): void {
    while (this.#words.length < loops) {
      this.#words.push([]);
      this.#fill(this.#words.length - 1);
    }
  }

  /** A row whose numbers are 0. */
  take(): number {
    const free = this.#free.pop();
    if (free !== undefined) {
      for (const row of this.#rows(free)) row.clear();
      return free;
    }
    const row = this.#next;
    this.#next += 1;
    for (const loop of this.#words.keys()) this.#fill(loop);
    return row;
  }

  /** The row may be used for something else from now on: no loop writes it any more. */
  giveBack(row: number): void {
    this.#free.push(row);
  }

  counts(row: number): TrafficCounts {
    const sum = { connections: 0, totalConnections: 0, bytesIn: 0, bytesOut: 0, failures: 0 };
    for (const part of this.#rows(row)) {
      const counts = part.read();
      sum.connections += counts.connections;
      sum.totalConnections += counts.totalConnections;
      sum.bytesIn += counts.bytesIn;
      sum.bytesOut += counts.bytesOut;
      sum.failures += counts.failures;
    }
    return sum;
  }

  checks(row: number): CheckCounts {
    const sum = { ok: 0, failed: 0 };
    for (const part of this.#rows(row)) {
      const counts = part.readChecks();
      sum.ok += counts.ok;
      sum.failed += counts.failed;
    }
    return sum;
  }

  latency(row: number): LatencyHistogram {
    const counts = new Array<number>(LATENCY_BUCKETS).fill(0);
    let sumMs = 0;
    for (const part of this.#rows(row)) {
      sumMs += part.latencySumMs;
      for (const [bucket, count] of part.readLatencies().entries()) {
        counts[bucket] = (counts[bucket] ?? 0) + count;
      }
    }
    return { boundsMs: LATENCY_BOUNDS_MS, counts, sumMs };
  }

  /** The loop in that place is gone: nothing of it is open any more. */
  loopEnded(loop: number): void {
    for (const words of this.#words[loop] ?? []) {
      for (let row = 0; row < BLOCK_ROWS; row += 1) rowIn(words, row).closeAll();
    }
  }

  *#rows(row: number): Iterable<CounterRow> {
    for (const blocks of this.#words) {
      const words = blocks[blockOf(row)];
      if (words !== undefined) yield rowIn(words, row);
    }
  }

  /** Gives a place blocks for all rows that are taken. */
  #fill(loop: number): void {
    const blocks = this.#words[loop] ?? [];
    while (blocks.length * BLOCK_ROWS < this.#next) {
      const bytes = BLOCK_ROWS * ROW_WORDS * Float64Array.BYTES_PER_ELEMENT;
      const memory = new SharedArrayBuffer(bytes);
      this.#blocks.push({ loop, index: blocks.length, memory });
      blocks.push(new Float64Array(memory));
    }
  }
}
