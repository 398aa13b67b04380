import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonErrorAt } from "./json-error-at.ts";
import { findItems, locateInJson } from "./json-scan.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textAt = (bytes: Uint8Array, { start, end }: { start: number; end: number }) =>
  new TextDecoder().decode(bytes.subarray(start, end));

test("the entries of a list are found as JSON.parse finds them", () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue()),
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom(undefined, 1, "\t"),
      (items, rest, indent) => {
        const text = JSON.stringify({ ...rest, items, last: 1 }, null, indent);
        const bytes = bytesOf(text);
        const found = findItems(bytes);
        const spans = found?.items ?? [];
        expect(spans.map((span) => JSON.parse(textAt(bytes, span)))).toEqual(
          JSON.parse(text).items,
        );
        expect(found && JSON.parse(textAt(bytes, found.list))).toEqual(JSON.parse(text).items);
      },
    ),
  );
});

test.each([
  "",
  "[]",
  "{}",
  '{"items": {}}',
  '{"items": [1, 2}',
  '{"items" [1]}',
  "{items: []}",
  '{"items": [1]',
  '{"a',
])("no entries in %s", (text) => {
  expect(findItems(bytesOf(text))).toBeUndefined();
});

test("of two lists the last counts, as for JSON.parse", () => {
  expect(findItems(bytesOf('{"items": [1, 2], "items": [3]}'))?.items).toHaveLength(1);
});

test.each([
  [["a"], '"a"'],
  [["a", 1], "{"],
  [["a", 1, 'q"\\'], '"q\\"'],
  [["a", 1, "missing", 0], "{"],
  [["a", 7], '"a"'],
  [["ü"], '"\\u00fc"'],
])("%j stands at %s", (path, start) => {
  const text = '{"x": [{}], "a": [0, {"q\\"\\\\": 1}], "\\u00fc": 2}';
  const at = locateInJson(bytesOf(text), path);
  expect(text.slice(at).startsWith(start)).toBe(true);
});

test("where JSON ceases to be JSON", () => {
  const cases: readonly [string, number][] = [
    ['{"a":}', 5],
    ['{"a":1,}', 7],
    ["[1,]", 3],
    ["[1 2]", 3],
    ["{a:1}", 1],
    ['["\t"]', 1],
    ['["\\x"]', 1],
    ["[01]", 1],
    ["[1]]", 3],
    ["[tru]", 1],
    ['{"a" 1}', 5],
    ["[", 1],
    ["", 0],
  ];
  for (const [text, at] of cases) expect([text, jsonErrorAt(text)]).toEqual([text, at]);
});

test("text that is JSON is JSON to its end", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value, null, 1);
      expect(jsonErrorAt(text)).toBe(text.length);
    }),
  );
});
