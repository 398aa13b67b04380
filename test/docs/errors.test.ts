import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { exitCodeOf } from "../../src/cli/exit-codes.ts";
import { CoreError, type ErrorCode } from "../../src/core/errors.ts";

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
}

/** The members of the union, which types alone know: read from its source. */
function codesInSource(): readonly string[] {
  const union = /export type ErrorCode =([^;]+);/.exec(read("src/core/errors.ts"))?.[1] ?? "";
  return [...union.matchAll(/"(ERR_[A-Z_]+)"/g)].map(([, code]) => code ?? "");
}

function rows(): readonly (readonly string[])[] {
  return read("docs/errors.md")
    .split("\n")
    .filter((line) => line.startsWith("| `ERR_"))
    .map((line) =>
      line
        .split("|")
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
}

test("docs/errors.md lists every code once, in the order of the source", () => {
  const codes = codesInSource();
  expect(codes.length).toBeGreaterThan(0);
  expect(rows().map(([code]) => code)).toEqual(codes.map((code) => `\`${code}\``));
});

test("every code has a meaning, a remedy and its exit code", () => {
  for (const [quoted = "", meaning, remedy, exitCode] of rows()) {
    const code = quoted.replaceAll("`", "");
    expect(isCode(code), code).toBe(true);
    expect(meaning, code).toMatch(/\w.*\.$/);
    expect(remedy, code).toMatch(/\w.*\.$/);
    if (isCode(code)) expect(exitCode, code).toBe(String(exitCodeOf(new CoreError(code, ""))));
  }
});

function isCode(text: string): text is ErrorCode {
  return codesInSource().includes(text);
}
