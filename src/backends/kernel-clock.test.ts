import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SYSTEM_CLOCK } from "./kernel-clock.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a call that takes longer than a period is not made again meanwhile", async () => {
  const ends: (() => void)[] = [];
  const stop = SYSTEM_CLOCK.every(1000, () => new Promise((end) => ends.push(end)));
  await vi.advanceTimersByTimeAsync(3500);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(1000);
  expect(ends).toHaveLength(2);
  ends[1]?.();
  stop();
  await vi.advanceTimersByTimeAsync(5000);
  expect(ends).toHaveLength(2);
});
