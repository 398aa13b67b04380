import { expect, test } from "vitest";
import { FastDemand } from "./fast-demand.ts";

type Second = readonly [byRules: number, byPath: number];

/** What is forwarded in each second, one after the other. */
function demandAfter(...seconds: readonly Second[]): boolean {
  const demand = new FastDemand();
  let counts = { byRules: 5_000_000, byPath: 7_000_000 };
  demand.look(counts);
  for (const [byRules, byPath] of seconds) {
    counts = { byRules: counts.byRules + byRules, byPath: counts.byPath + byPath };
    demand.look(counts);
  }
  return demand.isThere;
}

const times = (count: number, second: Second) => Array.from({ length: count }, () => second);
const BUSY: Second = [1000, 0];
const QUIET: Second = [99, 99];

test("what was forwarded before nobody looked tells nothing", () => {
  expect(demandAfter()).toBe(false);
});

test("a thousand packets in a second are enough, fewer are not", () => {
  expect(demandAfter([999, 0], [999, 0])).toBe(false);
  expect(demandAfter([999, 0], BUSY)).toBe(true);
});

test("it lasts while packets take the path, whatever goes by the rules", () => {
  expect(demandAfter(BUSY, ...times(1000, [0, 100]))).toBe(true);
  expect(demandAfter(BUSY, ...times(9, QUIET), [0, 100], ...times(9, QUIET))).toBe(true);
});

test("it is over after ten seconds in which few do, and back with the next busy one", () => {
  expect(demandAfter(BUSY, ...times(9, QUIET))).toBe(true);
  expect(demandAfter(BUSY, ...times(10, QUIET))).toBe(false);
  expect(demandAfter(BUSY, ...times(10, QUIET), BUSY)).toBe(true);
});

test("where much is forwarded of which little takes the path, it is tried every five minutes", () => {
  const useless = [BUSY, ...times(10, [50_000, 99])];
  expect(demandAfter(...useless)).toBe(false);
  expect(demandAfter(...useless, ...times(300, BUSY))).toBe(false);
  expect(demandAfter(...useless, ...times(301, BUSY))).toBe(true);
  expect(demandAfter(...useless, ...times(301, BUSY), ...times(9, BUSY))).toBe(true);
  expect(demandAfter(...useless, ...times(301, BUSY), ...times(10, BUSY))).toBe(false);
});
