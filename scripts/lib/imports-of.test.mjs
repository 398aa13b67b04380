import { expect, test } from "vitest";
import { StepError } from "./command.mjs";
import { importsOf } from "./imports-of.mjs";

test("finds every way to import, with its line", () => {
  const text = `import a from "one";
import type { B } from "two";
export { c } from "three";
export * from "four";
const d = await import("five");
type E = import("six").E;
import "seven";
export const notAnImport = 'import x from "eight"'; // import y from "nine"
`;
  expect(importsOf("a.ts", text)).toEqual([
    { specifier: "one", line: 1 },
    { specifier: "two", line: 2 },
    { specifier: "three", line: 3 },
    { specifier: "four", line: 4 },
    { specifier: "five", line: 5 },
    { specifier: "six", line: 6 },
    { specifier: "seven", line: 7 },
  ]);
});

test("refuses what it can not follow", () => {
  expect(() => importsOf("a.ts", "\nawait import(name);")).toThrow(/a\.ts:2: .*computed/);
  expect(() => importsOf("a.ts", "import {")).toThrow(StepError);
});
