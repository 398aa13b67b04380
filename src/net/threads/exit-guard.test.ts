import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { ExitGuard } from "./exit-guard.ts";
import { LoopSignal } from "./loop-signal.ts";

function setting(): { events: EventEmitter; exits: number[]; guard: ExitGuard } {
  const events = new EventEmitter();
  const exits: number[] = [];
  let nowMs = 0;
  const guard = new ExitGuard({
    events,
    exitNow: (code) => void exits.push(code),
    // Each look at the clock takes a second: no test waits.
    nowMs: () => {
      nowMs += 1000;
      return nowMs;
    },
  });
  return { events, exits, guard };
}

function runningLoop(): { signal: LoopSignal; woken: string[]; wake: () => void } {
  const signal = new LoopSignal(LoopSignal.allocate());
  signal.begin();
  const woken: string[] = [];
  return { signal, woken, wake: () => void woken.push("woken") };
}

test("wakes loops to stop, and lets the process end where they do", () => {
  const { events, exits, guard } = setting();
  const loop = runningLoop();
  guard.add({ signal: loop.signal, wake: () => loop.signal.end() });
  events.emit("exit", 3);
  expect(loop.signal.shallStop).toBe(true);
  expect(exits).toEqual([]);
});

test("ends the process with its exit code where one does not stop", () => {
  const { events, exits, guard } = setting();
  const loop = runningLoop();
  guard.add(loop);
  events.emit("exit", 3);
  expect(loop.woken).toEqual(["woken"]);
  expect(exits).toEqual([3]);
});

test("does not wait for loops that are gone, or that did not begin", () => {
  const { events, exits, guard } = setting();
  const gone = runningLoop();
  guard.add(gone);
  guard.remove(gone);
  const starting = new LoopSignal(LoopSignal.allocate());
  guard.add({ signal: starting, wake: () => undefined });
  events.emit("exit", 0);
  expect(exits).toEqual([]);
  expect(starting.begin()).toBe(false);
});

test("listens no more once it is disposed of", () => {
  const { events, guard } = setting();
  guard.dispose();
  expect(events.listenerCount("exit")).toBe(0);
});
