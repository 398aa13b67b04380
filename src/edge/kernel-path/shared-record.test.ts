import { once } from "node:events";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
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
  const counter = fc.oneof(
    fc.integer({ min: 0, max: 20 }),
    fc.integer({ min: 0, max: 3 * TAKEN_COUNT }),
  );
  const counters = fc.array(counter, { maxLength: 300 });
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

/**
 * Is given so many counters as fast as it can, and takes half of each: two who are given one behind the other want
 * the same at the same time. Says which ones it had.
 */
const RIVAL = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { memory, count, counterAt, takenAt, takenCount } = workerData;
  const words = new Int32Array(memory);
  const begin = words.length - 1;
  const had = { given: [], taken: [] };
  parentPort.postMessage("ready");
  Atomics.wait(words, begin, 0);
  Atomics.store(words, begin, 2);
  for (let turn = 0; turn < count; turn += 1) {
    const given = Atomics.add(words, counterAt, 1);
    const counter = given >> 1;
    const place = takenAt + (counter % takenCount);
    const there = Atomics.load(words, place);
    had.given.push(given);
    if (there > counter) continue;
    if (Atomics.compareExchange(words, place, there, counter + 1) === there) had.taken.push(counter);
  }
  parentPort.postMessage(had);`;

test("gives and takes each counter once beside another thread that does the same", async () => {
  const count = 300_000;
  const memory = new SharedArrayBuffer(RECORD.bytes + 4);
  const [counterAt, takenAt, takenCount] = [RECORD.counter / 4, RECORD.taken / 4, TAKEN_COUNT];
  const workerData = { memory, count, counterAt, takenAt, takenCount };
  const worker = new Worker(RIVAL, { eval: true, workerData });
  await once(worker, "message");
  const record = new SharedRecord(memory, 0);
  const words = new Int32Array(memory);
  const begin = words.length - 1;
  const done = once(worker, "message");
  Atomics.store(words, begin, 1);
  Atomics.notify(words, begin);
  while (Atomics.load(words, begin) !== 2);
  const own: { given: number[]; taken: number[] } = { given: [], taken: [] };
  for (let turn = 0; turn < count; turn += 1) {
    const given = record.give();
    own.given.push(given);
    if (record.take(given >> 1)) own.taken.push(given >> 1);
  }
  const [other] = await done;
  expect(new Set([...own.given, ...other.given]).size).toBe(2 * count);
  const taken = [...own.taken, ...other.taken];
  expect([new Set(taken).size, taken.length]).toEqual([count, count]);
});

test("does not take what another one took between two of its steps", () => {
  const memory = memoryOf(1);
  const [record, other] = [new SharedRecord(memory, 0), new SharedRecord(memory, 0)];
  const load = Atomics.load;
  const spy = vi.spyOn(Atomics, "load");
  onTestFinished(() => spy.mockRestore());
  const taken: boolean[] = [];
  spy.mockImplementation((...args) => {
    const value = Reflect.apply(load, Atomics, args);
    if (args[1] === placeOf(7) && taken.length === 0) {
      spy.mockRestore();
      taken.push(other.take(7));
    }
    return value;
  });
  expect([record.take(7), taken]).toEqual([false, [true]]);
});

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
