import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const FILES = ["definition.ts", "hosts-backend.ts", "hosts-backend.test.ts"];

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}

/** Imports as they would be in `src/backends/hosts`, in an order of their own: that is the formatter's. */
function asInBackends(code: string): readonly string[] {
  const lines = code
    .replaceAll("../../../src/backends/", "../")
    .replaceAll("../../../src/core/", "../../core/")
    .trim()
    .split("\n");
  const isImport = (line: string) => line.startsWith("import ");
  return [...lines.filter(isImport).sort(), ...lines.filter((line) => !isImport(line))];
}

test.each(FILES)("CONTRIBUTING.md shows %s as it compiles and runs here", (file) => {
  const opening = `\`\`\`ts\n// src/backends/hosts/${file}\n`;
  const [, after = ""] = read("../../CONTRIBUTING.md").split(opening);
  const [shown = ""] = after.split("```");
  expect(asInBackends(shown)).toEqual(asInBackends(read(`./hosts/${file}`)));
});
