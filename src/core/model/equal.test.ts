import { expect, test } from "vitest";
import { deepEqual } from "./equal.ts";

test.each([
  [{ a: [1, { b: "x" }] }, { a: [1, { b: "x" }] }, true],
  [{ a: 1, b: undefined }, { a: 1 }, false],
  [[1, 2], [2, 1], false],
  [[], {}, false],
  [null, {}, false],
  [new Map([["a", [1]]]), new Map([["a", [1]]]), true],
  [new Map([["a", [1]]]), new Map([["a", [2]]]), false],
  [new Map([["a", 1]]), new Map([["b", 1]]), false],
  [new Map(), {}, false],
])("%#: whether they say the same", (a, b, expected) => {
  expect(deepEqual(a, b)).toBe(expected);
  expect(deepEqual(b, a)).toBe(expected);
});
