import { expect, test } from "vitest";
import { rateOf } from "./rates.ts";
import { instanceStatus, listenerStatus } from "./status.fixture.ts";

const counts = (totalConnections: number, bytesIn = 0) =>
  instanceStatus({ listeners: [listenerStatus("web", { totalConnections, bytesIn })] });

const listeners = ({ listeners: all }: ReturnType<typeof counts>) => all;

test("what happened a second between two samples", () => {
  const before = { atMs: 1000, status: counts(10, 500) };
  const now = { atMs: 3000, status: counts(30, 1500) };
  expect(rateOf(now, before, listeners)("default/web")).toEqual({
    newConnections: 10,
    bytesIn: 500,
    bytesOut: 0,
    failures: 0,
  });
});

test.each([
  ["there is no sample before", undefined],
  ["another process counts", { atMs: 0, status: { ...counts(1), pid: 1 } }],
  ["no time has passed", { atMs: 3000, status: counts(1) }],
  ["it is new", { atMs: 0, status: instanceStatus() }],
  ["it counts anew", { atMs: 0, status: counts(31) }],
])("unknown where %s", (_, before) => {
  const now = { atMs: 3000, status: counts(30) };
  expect(rateOf(now, before, listeners)("default/web")).toBeUndefined();
});
