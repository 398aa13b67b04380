import { expect, test } from "vitest";
import { namePattern } from "./name-pattern.ts";

const NAMES = ["10.0.0.1:5000/10.1.0.1:80", "10.0.0.2:5000/10.1.0.1:80", "other"];

const itself = (name: string) => name;

test.each([
  ["other", false, ["other"]],
  ["oth", false, []],
  ["/^10\\.0\\.0\\./", true, NAMES.slice(0, 2)],
  ["/oth/", true, ["other"]],
])("%s chooses by name or pattern", (typed, isPattern, chosen) => {
  const pattern = namePattern(typed);
  expect(pattern.isPattern).toBe(isPattern);
  expect(pattern.choose(NAMES, itself)).toEqual(chosen);
});

test("a pattern that would take for ever is refused", () => {
  const endless = namePattern("/^(([0-9.:\\/])+)+x$/");
  expect(() => endless.choose(NAMES, itself)).toThrow(/takes longer than 50 ms/);
});

test.each(["/(/", `/${"a".repeat(200)}/`])("%s can not be read", (typed) => {
  expect(() => namePattern(typed)).toThrow(expect.objectContaining({ code: "ERR_USAGE" }));
});
