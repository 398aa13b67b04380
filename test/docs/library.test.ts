import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const EXAMPLES = new URL("examples/library/", ROOT);

test("docs/library.md shows every example as it is", () => {
  const page = readFileSync(new URL("docs/library.md", ROOT), "utf8");
  const shown = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  const examples = readdirSync(EXAMPLES).map((file) =>
    readFileSync(new URL(file, EXAMPLES), "utf8"),
  );
  expect(shown.toSorted()).toEqual(examples.toSorted());
});

test("the library's shortest programs are as short as they are said to be", () => {
  const linesOf = (file: string): number =>
    readFileSync(new URL(file, EXAMPLES), "utf8").trimEnd().split("\n").length;
  expect(linesOf("load-balancer.mjs")).toBeLessThanOrEqual(10);
  expect(linesOf("backend.mjs")).toBeLessThanOrEqual(30);
});
