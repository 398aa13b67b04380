import { expect, test } from "vitest";
import { isMet, renderJson, renderTable } from "./report.ts";

const FAST = { name: "fast", value: 0.12345, unit: "ms", limit: 2 };
const SLOW = { name: "a slow one", value: 1234.5, unit: "ms", limit: 1000 };

test("a target is met up to its limit", () => {
  expect(isMet({ ...FAST, value: 2 })).toBe(true);
  expect(isMet({ ...FAST, value: 2.001 })).toBe(false);
});

test("figures stand beside their targets", () => {
  expect(renderTable([FAST, SLOW]).split("\n")).toEqual([
    "figure      measured  target",
    "fast        0.123 ms  at most 2 ms     met",
    "a slow one  1235 ms   at most 1000 ms  NOT MET",
  ]);
});

test("for machines with whether each is met", () => {
  expect(JSON.parse(renderJson([FAST, SLOW]))).toEqual([
    { ...FAST, met: true },
    { ...SLOW, met: false },
  ]);
});
