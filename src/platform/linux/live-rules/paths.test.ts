import { expect, test } from "vitest";
import { enumeratePaths } from "./paths.ts";

test("each way is taken once, with the product of its chances", () => {
  const { paths, isComplete } = enumeratePaths((choose) => {
    if (choose([0.25, 0.75]) === 0) return "a";
    return `b${choose([0.5, 0.5])}`;
  });
  expect(isComplete).toBe(true);
  expect(paths).toEqual([
    { probability: 0.25, result: "a" },
    { probability: 0.375, result: "b0" },
    { probability: 0.375, result: "b1" },
  ]);
});

test("without decisions there is one way; too many are not followed, and that is told", () => {
  expect(enumeratePaths(() => "only")).toEqual({
    paths: [{ probability: 1, result: "only" }],
    isComplete: true,
  });
  const even = Array.from({ length: 200 }, () => 1 / 200);
  const { paths, isComplete } = enumeratePaths((choose) => [choose(even), choose(even)]);
  expect([paths.length, isComplete]).toEqual([10_000, false]);
});
