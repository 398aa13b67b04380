import { CoreError } from "../../core/errors.ts";
import { CounterRow, ROW_WORDS, type TrafficCounts } from "./counter-row.ts";
import { LATENCY_BOUNDS_MS, LATENCY_BUCKETS, type LatencyHistogram } from "./latency-buckets.ts";

/** Rows of each loop in a block. */
const BLOCK_ROWS = 256;

/** Memory for the counters of many things, as it is sent to the loops. */
export interface CounterBlock {
  readonly index: number;
  readonly memory: SharedArrayBuffer;
}

function rowIn(words: Float64Array, row: number, loop: number): CounterRow {
  return new CounterRow(words, (loop * BLOCK_ROWS + (row % BLOCK_ROWS)) * ROW_WORDS);
}

function blockOf(row: number): number {
  return Math.floor(row / BLOCK_ROWS);
}

/** The rows of one loop, inside it. */
export class LoopRows {
  readonly #loop: number;
  readonly #blocks: Float64Array[] = [];

  constructor(loop: number) {
    this.#loop = loop;
  }

  /** Blocks come before the rows in them; one that is known already is ignored. */
  addBlock({ index, memory }: CounterBlock): void {
    this.#blocks[index] ??= new Float64Array(memory);
  }

  /** @param row the number that `CounterBlocks.take` gave. */
  row(row: number): CounterRow {
    return rowIn(this.#wordsOf(row), row, this.#loop);
  }

  /** The same row of all other loops, to be read only. */
  rowsElsewhere(row: number): readonly CounterRow[] {
    const words = this.#wordsOf(row);
    const loops = words.length / (BLOCK_ROWS * ROW_WORDS);
    const rows: CounterRow[] = [];
    for (let loop = 0; loop < loops; loop += 1) {
      if (loop !== this.#loop) rows.push(rowIn(words, row, loop));
    }
    return rows;
  }

  #wordsOf(row: number): Float64Array {
    const words = this.#blocks[blockOf(row)];
    if (words !== undefined) return words;
    throw new CoreError("ERR_NOT_FOUND", `row ${row} of the counters is in no block that is known`);
  }
}

/**
 * The counters of an engine: each listener, group and server has a row, and each loop its own copy of
 * it, so that no two threads write the same number. Reading sums the copies up.
 */
export class CounterBlocks {
  readonly #loops: number;
  readonly #blocks: CounterBlock[] = [];
  readonly #words: Float64Array[] = [];
  readonly #free: number[] = [];
  #next = 0;

  constructor(loops: number) {
    this.#loops = loops;
  }

  /** All blocks so far; one that was there stays. */
  get blocks(): readonly CounterBlock[] {
    return this.#blocks;
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
    if (blockOf(row) === this.#blocks.length) this.#grow();
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

  latency(row: number): LatencyHistogram {
    const counts = new Array<number>(LATENCY_BUCKETS).fill(0);
    for (const part of this.#rows(row)) {
      for (const [bucket, count] of part.readLatencies().entries()) {
        counts[bucket] = (counts[bucket] ?? 0) + count;
      }
    }
    return { boundsMs: LATENCY_BOUNDS_MS, counts };
  }

  /** A loop is gone: nothing of it is open any more. */
  loopEnded(loop: number): void {
    for (const words of this.#words) {
      for (let row = 0; row < BLOCK_ROWS; row += 1) rowIn(words, row, loop).closeAll();
    }
  }

  *#rows(row: number): Iterable<CounterRow> {
    const words = this.#words[blockOf(row)];
    if (words === undefined) return;
    for (let loop = 0; loop < this.#loops; loop += 1) yield rowIn(words, row, loop);
  }

  #grow(): void {
    const words = this.#loops * BLOCK_ROWS * ROW_WORDS;
    const memory = new SharedArrayBuffer(words * Float64Array.BYTES_PER_ELEMENT);
    this.#blocks.push({ index: this.#blocks.length, memory });
    this.#words.push(new Float64Array(memory));
  }
}
