import { expect, test } from "vitest";
import { medianWithInterval } from "./median-interval.ts";

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => count - index);
}

test("the more values, the narrower around the middle", () => {
  expect(medianWithInterval(upTo(25))).toEqual({ value: 13, interval: [7, 19] });
  expect(medianWithInterval(upTo(101))).toEqual({ value: 51, interval: [40, 62] });
  expect(medianWithInterval(upTo(401))).toEqual({ value: 201, interval: [180, 222] });
});

test("few values are all that is known", () => {
  expect(medianWithInterval([3])).toEqual({ value: 3, interval: [3, 3] });
  expect(medianWithInterval(upTo(5))).toEqual({ value: 3, interval: [1, 5] });
});

test("one that is far off moves nothing", () => {
  const [, ...others] = upTo(101);
  expect(medianWithInterval([...others, 1e9])).toEqual({ value: 51, interval: [40, 62] });
});

test("none have no median", () => {
  expect(() => medianWithInterval([])).toThrow("no values");
});
