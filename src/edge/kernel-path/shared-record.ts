import type { CounterWindow } from "../../wire/replay-window.ts";
import { MAX_COUNTER, RECORD, TAKEN_COUNT, WINDOW } from "./layout.ts";

const COUNTER = RECORD.counter / 4;
const GREATEST = RECORD.greatest / 4;
const TAKEN = RECORD.taken / 4;
const WORDS = RECORD.bytes / 4;
const LONGS = RECORD.bytes / 8;

/** What passed by a record in the kernel. */
export interface RecordTraffic {
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly packetsIn: number;
  readonly packetsOut: number;
}

/**
 * The counters of a session, in memory where programs of the kernel count and take as well: each operation is one
 * step for both. Behind MAX_COUNTER none is taken.
 */
export class SharedRecord implements CounterWindow {
  readonly number: number;
  #words: Int32Array;
  #longs: BigUint64Array;
  #told: RecordTraffic = { bytesIn: 0, bytesOut: 0, packetsIn: 0, packetsOut: 0 };

  constructor(memory: ArrayBufferLike, number: number) {
    this.number = number;
    this.#words = new Int32Array(memory, number * RECORD.bytes, WORDS);
    this.#longs = new BigUint64Array(memory, number * RECORD.bytes, LONGS);
  }

  /** How many counters were given. */
  get given(): number {
    return Atomics.load(this.#words, COUNTER) >>> 0;
  }

  /** The next counter: nobody else is given it. */
  give(): number {
    return Atomics.add(this.#words, COUNTER, 1) >>> 0;
  }

  get greatest(): number {
    return Atomics.load(this.#words, GREATEST) - 1;
  }

  isNew(counter: number): boolean {
    return this.#isInReach(counter) && Atomics.load(this.#words, placeOf(counter)) <= counter;
  }

  take(counter: number): boolean {
    if (!this.#isInReach(counter)) return false;
    const place = placeOf(counter);
    for (;;) {
      const there = Atomics.load(this.#words, place);
      if (there > counter) return false;
      if (Atomics.compareExchange(this.#words, place, there, counter + 1) === there) break;
    }
    this.#raise(counter + 1);
    return true;
  }

  /** Since it was asked for last. */
  takeTraffic(): RecordTraffic {
    const before = this.#told;
    this.#told = {
      bytesIn: this.#long(RECORD.bytesIn),
      bytesOut: this.#long(RECORD.bytesOut),
      packetsIn: this.#long(RECORD.packetsIn),
      packetsOut: this.#long(RECORD.packetsOut),
    };
    return {
      bytesIn: this.#told.bytesIn - before.bytesIn,
      bytesOut: this.#told.bytesOut - before.bytesOut,
      packetsIn: this.#told.packetsIn - before.packetsIn,
      packetsOut: this.#told.packetsOut - before.packetsOut,
    };
  }

  clear(): void {
    this.#words.fill(0);
  }

  /** From now on it is of nobody: who still holds it touches nothing that is another one's. */
  leave(): void {
    const own = new ArrayBuffer(RECORD.bytes);
    this.#words = new Int32Array(own);
    this.#longs = new BigUint64Array(own);
  }

  #isInReach(counter: number): boolean {
    return counter < MAX_COUNTER && counter + WINDOW >= this.greatest;
  }

  #raise(greatest: number): void {
    for (;;) {
      const before = Atomics.load(this.#words, GREATEST);
      if (before >= greatest) return;
      if (Atomics.compareExchange(this.#words, GREATEST, before, greatest) === before) return;
    }
  }

  #long(offset: number): number {
    return Number(Atomics.load(this.#longs, offset / 8));
  }
}

function placeOf(counter: number): number {
  return TAKEN + (counter & (TAKEN_COUNT - 1));
}
