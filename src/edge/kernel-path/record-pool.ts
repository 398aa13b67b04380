import { SharedRecord } from "./shared-record.ts";

/** A program that found a session before it was taken away from it has long ended by then. */
export const REST_MS = 10_000;

/**
 * The records that sessions have, each for its whole life. One that is given back rests before it is cleared for
 * another session: a program that still holds the keys of the last one would count from 0 with them again.
 */
export class RecordPool {
  readonly #memory: ArrayBufferLike;
  readonly #nowMs: () => number;
  readonly #count: number;
  /** The one that rests longest first. */
  readonly #resting: { readonly number: number; readonly untilMs: number }[] = [];
  #neverUsed = 0;

  constructor(memory: ArrayBufferLike, count: number, nowMs: () => number) {
    this.#memory = memory;
    this.#count = count;
    this.#nowMs = nowMs;
  }

  /** Undefined where all are in use. */
  take(): SharedRecord | undefined {
    const [first] = this.#resting;
    if (first !== undefined && this.#nowMs() >= first.untilMs) {
      this.#resting.shift();
      const record = new SharedRecord(this.#memory, first.number);
      record.clear();
      return record;
    }
    if (this.#neverUsed >= this.#count) return undefined;
    this.#neverUsed += 1;
    return new SharedRecord(this.#memory, this.#neverUsed - 1);
  }

  /** No map leads to it any more. */
  giveBack(record: SharedRecord): void {
    record.leave();
    this.#resting.push({ number: record.number, untilMs: this.#nowMs() + REST_MS });
  }
}
