import { expect, test } from "vitest";
import { simulateHour } from "./simulated-hour.fixture.ts";

const HOURS = 6;
const HOUR_MS = 3_600_000;

test.each(Array.from({ length: HOURS }, () => Math.floor(Math.random() * 2 ** 31)))(
  "hours of churn, loss and partitions from seed %i: no byte is lost, nothing stays open",
  (seed) => {
    const { wrong, leaks, errors, lateFailures } = simulateHour(seed, 2 * HOUR_MS);
    expect({ seed, wrong, leaks, errors, lateFailures }).toEqual({
      seed,
      wrong: [],
      leaks: [],
      errors: [],
      lateFailures: [],
    });
  },
);
