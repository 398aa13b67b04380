import { Script } from "node:vm";
import { afterEach, expect, test, vi } from "vitest";
import { namePattern } from "./name-pattern.ts";

const NAMES = ["10.0.0.1:5000/10.1.0.1:80", "10.0.0.2:5000/10.1.0.1:80", "other"];

const itself = (name: string) => name;

afterEach(() => void vi.restoreAllMocks());

/** The next pattern that is tried fails so. */
function failOnce(error: Error): void {
  vi.spyOn(Script.prototype, "runInContext").mockImplementationOnce(() => {
    throw error;
  });
}

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
  expect(() => endless.choose(NAMES, itself)).toThrow(/takes longer than 250 ms/);
});

test("one that took long once, as a machine was busy, is tried again", () => {
  failOnce(Object.assign(new Error("late"), { code: "ERR_SCRIPT_EXECUTION_TIMEOUT" }));
  expect(namePattern("/oth/").choose(NAMES, itself)).toEqual(["other"]);
});

test("what fails otherwise is not said to take long", () => {
  failOnce(new RangeError("no room"));
  expect(() => namePattern("/oth/").choose(NAMES, itself)).toThrow("no room");
});

test.each(["/(/", `/${"a".repeat(200)}/`])("%s can not be read", (typed) => {
  expect(() => namePattern(typed)).toThrow(expect.objectContaining({ code: "ERR_USAGE" }));
});
