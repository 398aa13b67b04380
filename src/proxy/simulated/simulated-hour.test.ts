import { expect, test } from "vitest";
import { simulateHour } from "./simulated-hour.fixture.ts";

const HOUR_MS = 3_600_000;

test("an hour of churn, loss and partitions: no byte is lost, nothing stays open", () => {
  const { calls, failures, datagrams, ...report } = simulateHour(27, HOUR_MS);
  expect(report).toEqual({ wrong: [], leaks: [], errors: [], lateFailures: [] });
  // It was an hour of work, and of trouble, for all of them.
  for (const kind of ["tcp", "http", "socks5"]) expect(calls[kind]).toBeGreaterThan(1000);
  expect(datagrams.answered).toBeGreaterThan(datagrams.asked / 2);
  expect(Object.keys(failures)).toEqual(
    expect.arrayContaining([
      "tcp ECONNRESET",
      "tcp ETIMEDOUT",
      "http HTTP 503 Service Unavailable",
    ]),
  );
});

test("the same seed gives the same minutes, another one others", () => {
  const minutes = (seed: number) => simulateHour(seed, HOUR_MS / 30);
  expect(minutes(1)).toEqual(minutes(1));
  expect(minutes(2).failures).not.toEqual(minutes(1).failures);
});
