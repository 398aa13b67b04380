import { expect, test } from "vitest";
import { isNotNewer, isOlder } from "./resource-version.ts";

test.each([
  ["1", "2", true, true],
  ["9", "10", true, true],
  ["10", "9", false, false],
  ["7", "7", true, false],
  ["18446744073709551615", "18446744073709551616", true, true],
  ["abc", "abd", false, false],
  ["", "1", false, false],
])("%s beside %s", (a, b, notNewer, older) => {
  expect(isNotNewer(a, b)).toBe(notNewer);
  expect(isOlder(a, b)).toBe(older);
});
