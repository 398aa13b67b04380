import fc from "fast-check";
import { expect, test } from "vitest";
import { ReplayWindow, WINDOW_SIZE } from "./replay-window.ts";

test("takes each counter once, and none that is too far behind", () => {
  const steps = fc.array(
    fc.oneof(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 0, max: 100_000 })),
    { maxLength: 400 },
  );
  fc.assert(
    fc.property(steps, (counters) => {
      const window = new ReplayWindow();
      const seen = new Set<number>();
      let greatest = -1;
      for (const counter of counters) {
        const isTooOld = counter + WINDOW_SIZE < greatest;
        expect(window.take(counter)).toBe(!seen.has(counter) && !isTooOld);
        seen.add(counter);
        greatest = Math.max(greatest, counter);
      }
    }),
  );
});

/** Of the self-test of WireGuard in Linux (selftest/counter.c), with the size of this window. */
test("WireGuard's own cases", () => {
  const L = WINDOW_SIZE + 1;
  const take = (window: ReplayWindow, ...counters: readonly number[]) =>
    counters.map((counter) => window.take(counter));
  const first = new ReplayWindow();
  expect(take(first, 0, 1, 1, 9, 8, 7, 7, L, L - 1, L - 1, L - 2, 2, 2)).toEqual([
    true,
    true,
    false,
    true,
    true,
    true,
    false,
    true,
    true,
    false,
    true,
    true,
    false,
  ]);
  expect(take(first, L + 16, 3, L + 16, L * 4, L * 4 - (L - 1), 10, L * 4 - L)).toEqual([
    true,
    false,
    false,
    true,
    true,
    false,
    false,
  ]);
  const range = (from: number, to: number): number[] => {
    const step = from <= to ? 1 : -1;
    return Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => from + index * step);
  };
  const isFresh = (counters: readonly number[]) => {
    const window = new ReplayWindow();
    return { window, all: take(window, ...counters).every((taken) => taken) };
  };
  for (const [counters, then, expected] of [
    [range(1, WINDOW_SIZE), [0, 0], [true, false]],
    [range(2, L), [1, 0], [true, false]],
    [range(WINDOW_SIZE, 0), [], []],
    [range(L, 1), [0], [false]],
  ] as const) {
    const { window, all } = isFresh(counters);
    expect([all, ...take(window, ...then)]).toEqual([true, ...expected]);
  }
});
