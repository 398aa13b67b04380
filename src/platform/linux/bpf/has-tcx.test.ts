import { expect, test } from "vitest";
import { hasTcx } from "./has-tcx.ts";

test.each([
  ["6.18.44-fc", true],
  ["6.6.0", true],
  ["7.0", true],
  ["6.5.13", false],
  ["5.19.0-50-generic", false],
])("Linux %s has programs of type tcx: %s", (kernel, expected) => {
  expect(hasTcx(kernel)).toBe(expected);
});
