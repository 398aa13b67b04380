import { expect, test } from "vitest";
import { isMet, renderJson, renderTable } from "./report.ts";

const FAST = { name: "fast", value: 0.12345, unit: "ms", limit: 2 };
const SLOW = { name: "a slow one", value: 1234.5, unit: "ms", limit: 1000 };

test("a target is met up to its limit", () => {
  expect(isMet({ ...FAST, value: 2 })).toBe(true);
  expect(isMet({ ...FAST, value: 2.001 })).toBe(false);
});

test("a target can be the least that is wanted", () => {
  const ratio = { name: "ratio", value: 0.99, unit: "times", limit: 1, bound: "least" } as const;
  expect([isMet(ratio), isMet({ ...ratio, value: 1 })]).toEqual([false, true]);
  expect(renderTable([ratio])).toContain("at least 1 times  NOT MET");
});

test("what was cut is at least that much, which may do", () => {
  const cut = { name: "cut", value: 64, unit: "times", bound: "least", isCut: true } as const;
  expect(renderTable([{ ...cut, limit: 20 }])).toContain(">= 64 times  at least 20 times  met");
  expect(renderTable([{ ...cut, limit: 90 }])).toContain("at least 90 times  NOT SEEN");
});

test("figures stand beside their targets", () => {
  expect(renderTable([FAST, SLOW]).split("\n")).toEqual([
    "figure      measured  target",
    "fast        0.123 ms  at most 2 ms     met",
    "a slow one  1235 ms   at most 1000 ms  NOT MET",
  ]);
});

test("how sure a figure is stands behind it, for people and machines", () => {
  const interval = [0.8919, 0.917] as const;
  const sure = { name: "sure", value: 0.904, unit: "times", interval };
  expect(renderTable([sure])).toContain("0.904 times (0.892 to 0.917)");
  expect(JSON.parse(renderJson([sure]))).toEqual([{ ...sure, met: true }]);
});

test("for machines with whether each is met", () => {
  expect(JSON.parse(renderJson([FAST, SLOW]))).toEqual([
    { ...FAST, met: true },
    { ...SLOW, met: false },
  ]);
});
