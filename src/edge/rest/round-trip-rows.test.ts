import { expect, test } from "vitest";
import { roundTripRows } from "./round-trip-rows.ts";

test("all pairs that are known, with what this node measured in place of what it told before", () => {
  const measured = [
    { name: "c", roundTripMs: 2 },
    { name: "b", roundTripMs: 1 },
    { name: "d", roundTripMs: null },
  ];
  const told = [
    { node: "c", toMs: { a: 2.5 } },
    { node: "a", toMs: { b: 99 } },
    { node: "b", toMs: { a: 1.5, c: 3 } },
  ];
  expect(roundTripRows("a", measured, told)).toEqual([
    { from: "a", to: "b", roundTripMs: 1 },
    { from: "a", to: "c", roundTripMs: 2 },
    { from: "b", to: "a", roundTripMs: 1.5 },
    { from: "b", to: "c", roundTripMs: 3 },
    { from: "c", to: "a", roundTripMs: 2.5 },
  ]);
});
