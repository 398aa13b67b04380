import { expect, test } from "vitest";
import { repairEvery } from "./rule-repairer.ts";

/** Rounds of repairs, each of which goes on until it is ended. */
function startRounds() {
  const begun: Ends[] = [];
  const told: unknown[] = [];
  const looks: number[] = [];
  let pass = async (): Promise<void> => undefined;
  const tell = () => undefined;
  const stop = repairEvery({
    clock: {
      every: (_, act) => {
        pass = act;
        return () => {
          pass = async () => undefined;
        };
      },
    },
    periodMs: 1000,
    repair: () => new Promise((end, fail) => begun.push({ end, fail })),
    context: {
      log: { debug: tell, info: tell, warn: tell, error: tell },
      onRepair: (error) => told.push(error),
      onRepairing: () => looks.push(begun.length),
    },
  });
  return { begun, told, looks, stop, pass: () => pass() };
}

interface Ends {
  readonly end: () => void;
  readonly fail: (error: Error) => void;
}

test("a repair that fails is told, and the next period tries again", async () => {
  const { begun, told, looks, pass } = startRounds();
  const first = pass();
  const failure = new Error("no");
  begun[0]?.fail(failure);
  await first;
  void pass();
  expect(told).toEqual([failure]);
  expect(begun).toHaveLength(2);
  // Each is told before it begins.
  expect(looks).toEqual([0, 1]);
});

test("after its end no period begins a repair", async () => {
  const { begun, stop, pass } = startRounds();
  stop();
  await pass();
  expect(begun).toEqual([]);
});
