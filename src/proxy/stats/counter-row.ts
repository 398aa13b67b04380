import { LATENCY_BUCKETS, latencyBucket } from "./latency-buckets.ts";

const OPEN = 0;
const TOTAL = 1;
const BYTES_IN = 2;
const BYTES_OUT = 3;
const FAILURES = 4;
const LATENCY_SUM_MS = 5;
const CHECKS_OK = 6;
const CHECKS_FAILED = 7;
const FIRST_BUCKET = 8;

/** How many numbers a row has. */
export const ROW_WORDS: number = FIRST_BUCKET + LATENCY_BUCKETS;

/** Of a listener, a group or a server, in one loop or in all of them. */
export interface TrafficCounts {
  /** Connections or sessions that are open now. */
  readonly connections: number;
  readonly totalConnections: number;
  /** From clients. */
  readonly bytesIn: number;
  /** To clients. */
  readonly bytesOut: number;
  /** Connections to servers that could not be made; of a listener, clients that could not be served. */
  readonly failures: number;
}

/** Health checks of a server, over all of its addresses. */
export interface CheckCounts {
  readonly ok: number;
  readonly failed: number;
}

/**
 * What one loop counts of one thing, in memory that other threads read without stopping it. Only that
 * loop writes it; a number is one aligned 64-bit float, which is written as a whole.
 */
export class CounterRow {
  readonly #words: Float64Array;
  readonly #start: number;

  constructor(words: Float64Array, start: number) {
    this.#words = words;
    this.#start = start;
  }

  opened(): void {
    this.#add(OPEN, 1);
    this.#add(TOTAL, 1);
  }

  closed(): void {
    this.#add(OPEN, -1);
  }

  moved(bytesIn: number, bytesOut: number): void {
    this.#add(BYTES_IN, bytesIn);
    this.#add(BYTES_OUT, bytesOut);
  }

  failed(): void {
    this.#add(FAILURES, 1);
  }

  checked(ok: boolean): void {
    this.#add(ok ? CHECKS_OK : CHECKS_FAILED, 1);
  }

  tookMs(latencyMs: number): void {
    this.#add(FIRST_BUCKET + latencyBucket(latencyMs), 1);
    this.#add(LATENCY_SUM_MS, latencyMs);
  }

  get connections(): number {
    return this.#at(OPEN);
  }

  read(): TrafficCounts {
    return {
      connections: this.#at(OPEN),
      totalConnections: this.#at(TOTAL),
      bytesIn: this.#at(BYTES_IN),
      bytesOut: this.#at(BYTES_OUT),
      failures: this.#at(FAILURES),
    };
  }

  readChecks(): CheckCounts {
    return { ok: this.#at(CHECKS_OK), failed: this.#at(CHECKS_FAILED) };
  }

  readLatencies(): readonly number[] {
    return Array.from({ length: LATENCY_BUCKETS }, (_, bucket) => this.#at(FIRST_BUCKET + bucket));
  }

  get latencySumMs(): number {
    return this.#at(LATENCY_SUM_MS);
  }

  /** The loop is gone, and with it what was open; what it did stays counted. */
  closeAll(): void {
    this.#words[this.#start + OPEN] = 0;
  }

  /** For another owner. */
  clear(): void {
    this.#words.fill(0, this.#start, this.#start + ROW_WORDS);
  }

  #at(word: number): number {
    return this.#words[this.#start + word] ?? 0;
  }

  #add(word: number, count: number): void {
    const index = this.#start + word;
    this.#words[index] = (this.#words[index] ?? 0) + count;
  }
}
