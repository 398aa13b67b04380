import { expect, test } from "vitest";
import type { AnnouncementState } from "./announcer.ts";
import { retryUntil } from "./retry-until.ts";

test("what fails is told and tried again, later each time, until the signal comes", async () => {
  const end = new AbortController();
  const states: AnnouncementState[] = [];
  const sleeps: number[] = [];
  let attempts = 0;
  const attempt = async (made: () => void): Promise<void> => {
    attempts += 1;
    if (attempts === 4) made();
    if (attempts === 6) end.abort();
    throw new Error(`failure ${attempts}`);
  };
  const sleep = async (ms: number): Promise<void> => void sleeps.push(ms);
  await retryUntil(attempt, (state) => states.push(state), end.signal, {
    random: () => 0.5,
    sleep,
  });
  expect(states.map(({ isMade, problem }) => [isMade, problem])).toEqual([
    [false, "failure 1"],
    [false, "failure 2"],
    [false, "failure 3"],
    [true, ""],
    [false, "failure 4"],
    [false, "failure 5"],
  ]);
  const [first = 0, second = 0, third = 0, afterSuccess] = sleeps;
  expect(second).toBeGreaterThan(first);
  expect(third).toBeGreaterThan(second);
  expect(afterSuccess).toBe(first);
  expect(sleeps).toHaveLength(5);
});

test("nothing is tried after the end", async () => {
  const attempt = (): Promise<void> => Promise.reject(new Error("tried"));
  const tell = (): void => {
    throw new Error("told");
  };
  const world = { random: () => 0, sleep: async () => undefined };
  await retryUntil(attempt, tell, AbortSignal.abort(), world);
});
