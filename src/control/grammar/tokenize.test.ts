import fc from "fast-check";
import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { LINE_LIMITS, tokenize } from "./tokenize.ts";

test("words, quoted texts and JSON, each with its column", () => {
  expect(tokenize(`  add sg\tg0 hint "a b" {"x": "}\\"{", "y": {}} 'c d'  \r\n`)).toEqual([
    { kind: "word", text: "add", column: 3 },
    { kind: "word", text: "sg", column: 7 },
    { kind: "word", text: "g0", column: 10 },
    { kind: "word", text: "hint", column: 13 },
    { kind: "quoted", text: "a b", column: 18 },
    { kind: "json", text: '{"x": "}\\"{", "y": {}}', column: 24 },
    { kind: "quoted", text: "c d", column: 47 },
  ]);
});

test.each([
  [String.raw`"a\n\t\"\\\/\u00e9\'"`, "a\n\t\"\\/\u00e9'"],
  [String.raw`'/10\.0\.0\.1/'`, String.raw`/10\.0\.0\.1/`],
  [String.raw`'it\'s \\'`, "it's \\"],
  [String.raw`/10\.0\.0\.1:\d+/`, String.raw`/10\.0\.0\.1:\d+/`],
  [`""`, ""],
  ["a#b", "a#b"],
  ["a{b}", "a{b}"],
])("reads %s", (line, text) => {
  expect(tokenize(line).map((token) => token.text)).toEqual([text]);
});

test.each(["", "   ", "# a comment", "   # 'not closed"])("%j has no tokens", (line) => {
  expect(tokenize(line)).toEqual([]);
});

test.each([
  ['add "lb0', 'column 5: the quote " is not closed; expected another " at the end of the text'],
  ["add 'lb0", "column 5: the quote ' is not closed; expected another ' at the end of the text"],
  ['add "a"b', 'column 8: "b" right after the end of a text; expected a space'],
  ["add {}x", 'column 7: "x" right after the end of a text; expected a space'],
  ["add lb'0'", "column 7: the quote ' inside of a word; expected quotes around all of it"],
  ['add {"a":"}"', "column 5: the brace { is not closed; expected JSON with a } at its end"],
  [String.raw`add "\d"`, String.raw`column 6: "\d" is no escape; expected "\\" for a backslash`],
  [
    String.raw`add "\u00g0"`,
    String.raw`column 6: "\u" is no escape; expected "\\" for a backslash`,
  ],
  [
    "list\ntcp-lb",
    String.raw`column 5: a line break; expected one line; "\n" or "\u0000" in double quotes`,
  ],
  [
    "list \0",
    String.raw`column 6: a control character; expected one line; "\n" or "\u0000" in double quotes`,
  ],
  ["x".repeat(65_537), "column 65537: the line is too long; expected 65536 characters at most"],
  ["x ".repeat(1025), "column 2049: too many words; expected 1024 at most"],
])("refuses %j", (line, message) => {
  expect(() => tokenize(line)).toThrow(
    expect.objectContaining({ code: "ERR_USAGE", message, problems: [expect.anything()] }),
  );
});

test("a caller may allow longer lines", () => {
  const line = `add ${"x".repeat(100_000)}`;
  expect(tokenize(line, { ...LINE_LIMITS, maxChars: 200_000 })).toHaveLength(2);
});

test("random lines give tokens whose columns are theirs, or a CoreError", () => {
  const pieces = fc.constantFrom('"', "'", "\\", "{", "}", " ", "#", "u", "a", ":", "\u00a0", "1");
  const lines = fc.oneof(fc.string(), fc.string({ unit: pieces, maxLength: 40 }));
  fc.assert(
    fc.property(lines, (line) => {
      try {
        for (const { kind, text, column } of tokenize(line)) {
          if (kind !== "quoted") expect(line.startsWith(text, column - 1)).toBe(true);
          else expect(line[column - 1]).toMatch(/["']/);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(CoreError);
        expect(error).toMatchObject({ code: "ERR_USAGE" });
      }
    }),
    { numRuns: 5000 },
  );
});
