import { expect, test } from "vitest";
import { AwakeWhileBusy } from "./awake-while-busy.ts";

function world(lingerMs: number, fault?: Error) {
  const state = { isHeld: false, tries: 0 };
  const failed: unknown[] = [];
  const wakefulness = {
    hold: () => {
      state.tries += 1;
      if (fault !== undefined) throw fault;
      state.isHeld = true;
    },
    release: () => {
      state.isHeld = false;
    },
  };
  const awake = new AwakeWhileBusy(wakefulness, lingerMs, (error) => failed.push(error));
  const held = (packets: number, nowMs: number): boolean => {
    awake.note(packets, nowMs);
    return state.isHeld;
  };
  return { awake, state, failed, held };
}

test("processors are awake while packets come, and for as long after the last one as was asked for", () => {
  const { awake, state, held } = world(1000);
  expect(held(0, 0)).toBe(false);
  expect([held(1, 250), held(1, 1249), held(1, 1250)]).toEqual([true, true, false]);
  expect([held(5, 5000), held(9, 5900), held(9, 6800)]).toEqual([true, true, true]);
  awake.close();
  expect(state.isHeld).toBe(false);
});

test("without being asked for they may sleep", () => {
  const { held, state } = world(0);
  expect([held(1, 250), held(2, 500), state.tries]).toEqual([false, false, 0]);
});

test("where it is not possible that is told once", () => {
  const fault = new Error("no such device");
  const { held, state, failed } = world(1000, fault);
  expect([held(1, 250), held(2, 500), held(3, 750)]).toEqual([false, false, false]);
  expect([state.tries, failed]).toEqual([1, [fault]]);
});
