import { expect, test } from "vitest";
import { integerWeights } from "./integer-weights.ts";

const weightsOf = (...shares: readonly number[]): readonly number[] =>
  integerWeights(shares.map((share) => ({ ip: "10.244.0.1", port: 80, share })));

test("shares are the smallest whole numbers that stand to each other as they do", () => {
  expect(weightsOf(1 / 3, 1 / 3, 1 / 3)).toEqual([1, 1, 1]);
  expect(weightsOf(0.4, 0.6)).toEqual([2, 3]);
  expect(weightsOf(1 / 998, 997 / 998)).toEqual([1, 997]);
});

test("beyond a thousand they are rounded, and nobody is left without", () => {
  expect(weightsOf(1 / 100_001, 100_000 / 100_001)).toEqual([1, 1000]);
});
