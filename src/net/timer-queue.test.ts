import fc from "fast-check";
import { expect, test } from "vitest";
import { Timer, TimerQueue } from "./timer-queue.ts";

const noTask = (): void => undefined;

function drain(queue: TimerQueue, nowMs: number): Timer[] {
  const due: Timer[] = [];
  for (let timer = queue.takeDue(nowMs); timer !== undefined; timer = queue.takeDue(nowMs)) {
    due.push(timer);
  }
  return due;
}

test("gives timers by time, those of one time in the order they were armed", () => {
  const queue = new TimerQueue();
  const [a, b, c] = [new Timer(noTask), new Timer(noTask), new Timer(noTask)];
  queue.arm(a, 20);
  queue.arm(b, 10);
  queue.arm(c, 20);
  expect(queue.nextAtMs).toBe(10);
  expect(drain(queue, 9)).toEqual([]);
  expect(drain(queue, 20)).toEqual([b, a, c]);
  expect(a.isArmed).toBe(false);
});

test("arming again moves a timer, cancelling twice is once", () => {
  const queue = new TimerQueue();
  const timer = new Timer(noTask);
  queue.arm(timer, 10);
  queue.arm(timer, 30);
  expect(queue.size).toBe(1);
  expect(queue.takeDue(20)).toBeUndefined();
  queue.cancel(timer);
  queue.cancel(timer);
  expect(queue.size).toBe(0);
  expect(queue.nextAtMs).toBeUndefined();
});

test("a cancelled timer leaves nothing behind, whatever is armed and cancelled", () => {
  const steps = fc.array(
    fc.record({
      timer: fc.nat({ max: 9 }),
      atMs: fc.option(fc.nat({ max: 50 }), { nil: undefined }),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(steps, (todo) => {
      const queue = new TimerQueue();
      const timers = Array.from({ length: 10 }, () => new Timer(noTask));
      const model = new Map<Timer, { atMs: number; order: number }>();
      for (const [order, { timer: index, atMs }] of todo.entries()) {
        const timer = timers[index];
        if (timer === undefined) continue;
        if (atMs === undefined) {
          queue.cancel(timer);
          model.delete(timer);
        } else {
          queue.arm(timer, atMs);
          model.set(timer, { atMs, order });
        }
        expect(queue.size).toBe(model.size);
      }
      const expected = [...model]
        .sort(([, a], [, b]) => a.atMs - b.atMs || a.order - b.order)
        .map(([timer]) => timer);
      expect(drain(queue, 50)).toEqual(expected);
    }),
  );
});

test("clearing disarms all", () => {
  const queue = new TimerQueue();
  const timer = new Timer(noTask);
  queue.arm(timer, 1);
  queue.clear();
  expect(timer.isArmed).toBe(false);
  expect(queue.takeDue(10)).toBeUndefined();
});
