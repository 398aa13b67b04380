import { expect, test } from "vitest";
import { conclude } from "./summary.mjs";

const SKIP = { test: "a.test.ts > b", reason: "needs root (run the tests as root)" };

test("ends with the count, the reasons of skips above it", () => {
  expect(conclude({ passed: 3, failed: 0, unfinished: [], skipped: [SKIP] }, 0, false)).toEqual({
    lines: [
      "skipped: a.test.ts > b: needs root (run the tests as root)",
      "3 passed, 0 failed, 1 skipped",
    ],
    code: 0,
  });
});

test("fails on a skip where all tests are required", () => {
  const { lines, code } = conclude(
    { passed: 3, failed: 0, unfinished: [], skipped: [SKIP] },
    0,
    true,
  );
  expect(code).toBe(1);
  expect(lines.at(-1)).toBe("3 passed, 0 failed, 1 skipped");
  expect(lines.at(-2)).toMatch(/a skipped test is a failure/);
});

test("names what did not finish, and fails", () => {
  const summary = { passed: 3, failed: 0, unfinished: ["a.test.ts > b"], skipped: [] };
  expect(conclude(summary, 0, false)).toEqual({
    lines: ["not finished: a.test.ts > b", "3 passed, 0 failed, 0 skipped"],
    code: 1,
  });
});

test.each([
  ["a failure", { passed: 1, failed: 1, unfinished: [], skipped: [] }],
  ["nothing that ran", { passed: 0, failed: 0, unfinished: [], skipped: [] }],
  ["only skips", { passed: 0, failed: 0, unfinished: [], skipped: [SKIP] }],
  ["no result at all", undefined],
])("fails on %s, even where the runner is content", (_, summary) => {
  const { lines, code } = conclude(summary, 0, false);
  expect(code).toBe(1);
  expect(lines.at(-1)).toMatch(/^\d+ passed, \d+ failed, \d+ skipped$/);
});

test("keeps the runner's exit code", () => {
  expect(conclude({ passed: 1, failed: 0, unfinished: [], skipped: [] }, 3, false).code).toBe(3);
});
