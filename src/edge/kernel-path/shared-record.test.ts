import fc from "fast-check";
import { expect, test } from "vitest";
import { ReplayWindow } from "../../wire/replay-window.ts";
import { MAX_COUNTER, RECORD, TAKEN_COUNT, WINDOW } from "./layout.ts";
import { SharedRecord } from "./shared-record.ts";

const memoryOf = (records: number) => new ArrayBuffer(records * RECORD.bytes);

/** Takes as a program does it, in two steps between which anything may happen. */
class SteppedTaker {
  readonly #words: Int32Array;
  #there = 0;

  constructor(memory: ArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  look(counter: number): void {
    this.#there = Atomics.load(this.#words, placeOf(counter));
  }

  take(counter: number): boolean {
    const isOld = counter + 1 + WINDOW < Atomics.load(this.#words, RECORD.greatest / 4);
    if (isOld || this.#there > counter) return false;
    const there = Atomics.compareExchange(this.#words, placeOf(counter), this.#there, counter + 1);
    if (there !== this.#there) return false;
    const greatest = Atomics.load(this.#words, RECORD.greatest / 4);
    Atomics.store(this.#words, RECORD.greatest / 4, Math.max(greatest, counter + 1));
    return true;
  }
}

function placeOf(counter: number): number {
  return RECORD.taken / 4 + (counter % TAKEN_COUNT);
}

test("counters are given once, whoever asks", () => {
  const memory = memoryOf(2);
  const [one, other] = [new SharedRecord(memory, 1), new SharedRecord(memory, 1)];
  expect([one.give(), other.give(), one.give()]).toEqual([0, 1, 2]);
  expect([one.given, other.given, new SharedRecord(memory, 0).given]).toEqual([3, 3, 0]);
});

test("takes what a window of its own would take", () => {
  const counters = fc.array(fc.integer({ min: 0, max: 3 * TAKEN_COUNT }), { maxLength: 300 });
  fc.assert(
    fc.property(counters, (steps) => {
      const window = new ReplayWindow();
      const record = new SharedRecord(memoryOf(1), 0);
      for (const counter of steps) {
        expect(record.isNew(counter)).toBe(window.isNew(counter));
        expect(record.take(counter)).toBe(window.take(counter));
        expect(record.greatest).toBe(window.greatest);
      }
    }),
  );
});

const TAKERS = ["record", "other", "look", "stepped"] as const;
type Step = readonly [taker: (typeof TAKERS)[number], counter: number];

/** Those that were taken, in order. */
function play(memory: ArrayBuffer, steps: readonly Step[]): readonly number[] {
  const stepped = new SteppedTaker(memory);
  const records = { record: new SharedRecord(memory, 0), other: new SharedRecord(memory, 0) };
  let looked: number | undefined;
  return steps.flatMap(([taker, counter]) => {
    if (taker === "look") {
      stepped.look(counter);
      looked = counter;
      return [];
    }
    if (taker !== "stepped") return records[taker].take(counter) ? [counter] : [];
    const wanted = looked;
    looked = undefined;
    return wanted !== undefined && stepped.take(wanted) ? [wanted] : [];
  });
}

// Far apart they share places in memory.
test.each([1, TAKEN_COUNT])(
  "takes each counter once, however steps of takers fall between each other; %i apart",
  (apart) => {
    const counters = fc.integer({ min: 0, max: 6 }).map((place) => place * apart);
    const steps = fc.array(fc.tuple(fc.constantFrom(...TAKERS), counters), { maxLength: 200 });
    fc.assert(
      fc.property(steps, (all) => {
        const memory = memoryOf(1);
        const taken = play(memory, all);
        expect(new Set(taken).size).toBe(taken.length);
        expect(new SharedRecord(memory, 0).greatest).toBe(Math.max(-1, ...taken));
      }),
    );
  },
);

test("none is too old until it is a whole window behind, and none is taken beyond the last", () => {
  const record = new SharedRecord(memoryOf(1), 0);
  record.take(5000);
  expect([record.take(5000 - WINDOW), record.take(5000 - WINDOW - 1)]).toEqual([true, false]);
  expect([record.take(MAX_COUNTER), record.take(MAX_COUNTER - 1)]).toEqual([false, true]);
});

test("what passed in the kernel is told once", () => {
  const memory = memoryOf(1);
  const longs = new BigUint64Array(memory);
  const record = new SharedRecord(memory, 0);
  longs[RECORD.bytesIn / 8] = 100n;
  longs[RECORD.packetsIn / 8] = 2n;
  expect(record.takeTraffic()).toEqual({ bytesIn: 100, bytesOut: 0, packetsIn: 2, packetsOut: 0 });
  longs[RECORD.bytesOut / 8] = 7n;
  expect(record.takeTraffic()).toEqual({ bytesIn: 0, bytesOut: 7, packetsIn: 0, packetsOut: 0 });
});
