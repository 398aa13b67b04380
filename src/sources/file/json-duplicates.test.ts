import fc from "fast-check";
import { expect, test } from "vitest";
import { findDuplicateKey } from "./json-duplicates.ts";
import { parseState } from "./parse-state.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

const load = (text: string, name = "s.json") => parseState([{ name, bytes: bytesOf(text) }]);

test.each([
  ['{"a": 1, "a": 2}', ["a"], '"a": 2'],
  ['{"a": [0, {"b": {}, "c": 1, "b": 1}]}', ["a", 1, "b"], '"b": 1'],
  ['{"ü": 1, "\\u00fc": 2}', ["ü"], '"\\u00fc"'],
  ['[{"a": {"x": 1, "x": 1}, "a": 1}]', [0, "a", "x"], '"x": 1}'],
  ['{"__proto__": 1, "__proto__": 2}', ["__proto__"], '"__proto__": 2'],
])("%s has a key twice", (text, path, at) => {
  const found = findDuplicateKey(bytesOf(text));
  expect(found?.path).toEqual(path);
  const rest = new TextDecoder().decode(bytesOf(text).subarray(found?.at));
  expect(rest.startsWith(at)).toBe(true);
});

test("what a program writes has no key twice", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(findDuplicateKey(bytesOf(JSON.stringify(value, null, 1)))).toBeUndefined();
    }),
  );
});

test("nesting without end is passed over", () => {
  const deep = `{"a": 1, "b": ${"[".repeat(100_000)}${"]".repeat(100_000)}, "a": 2}`;
  expect(findDuplicateKey(bytesOf(deep))?.path).toEqual(["a"]);
});

const TWICE = `{
  "version": 1,
  "services": {
    "web": {"listen": 8080},
    "web": {"listen": 8081}
  }
}`;

test.each(["s.json", "state"])("%s: a service that is there twice is refused", (name) => {
  expect(() => load(TWICE, name)).toThrow(
    `${name}:5: services.web: the key is there twice; expected each key once`,
  );
});

test("a list is refused where it has its own keys twice", () => {
  const list = '{"apiVersion": "v1", "kind": "List",\n "items": [{"a": 1}],\n "items": []}';
  expect(() => load(list)).toThrow("s.json:3: items: the key is there twice");
});

test("an entry of a list is refused where it has a key twice", () => {
  const entry = '{"apiVersion":"v1","kind":"Node","metadata":{"name":"a",\n"name":"b"}}';
  expect(() => load(`{"kind":"List","apiVersion":"v1","items":[\n${entry}]}`)).toThrow(
    "s.json:3: items[0].metadata.name: the key is there twice",
  );
});
