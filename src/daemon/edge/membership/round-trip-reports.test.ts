import { expect, test } from "vitest";
import { RoundTripReports } from "./round-trip-reports.ts";

test("tells what is measured every five seconds, and at once to another manager", async () => {
  let nowMs = 0;
  let rows: { name: string; roundTripMs: number | null }[] = [];
  const reports = new RoundTripReports(
    async () => rows,
    () => nowMs,
  );
  expect(await reports.next()).toEqual({});
  rows = [
    { name: "b", roundTripMs: 2 },
    { name: "c", roundTripMs: null },
  ];
  expect(await reports.next()).toEqual({ roundTripsMs: { b: 2 } });
  nowMs = 4999;
  expect(await reports.next()).toEqual({});
  reports.repeat();
  expect(await reports.next()).toEqual({ roundTripsMs: { b: 2 } });
  nowMs = 9999;
  expect(await reports.next()).toEqual({ roundTripsMs: { b: 2 } });
});

test("tells of the nearest where there are very many, and of nobody where the tunnel does not say", async () => {
  const many = Array.from({ length: 200 }, (_, index) => ({
    name: `n${index}`,
    roundTripMs: 200 - index,
  }));
  const { roundTripsMs = {} } = await new RoundTripReports(
    async () => many,
    () => 0,
  ).next();
  expect(Object.keys(roundTripsMs)).toHaveLength(64);
  expect(Math.max(...Object.values(roundTripsMs))).toBe(64);
  const lost = new RoundTripReports(
    () => Promise.reject(new Error("the tunnel is lost")),
    () => 0,
  );
  expect(await lost.next()).toEqual({});
});
