import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalHash, canonicalJson, hashBytes, hashText } from "./hash.ts";

test("XXH64 is the one of its specification", () => {
  const bytes = new TextEncoder().encode("xxabcxx");
  expect(hashBytes(bytes.subarray(2, 5))).toBe(0x44bc2cf5ad770999n);
  expect(hashText("")).toBe("ef46db3751d8e999");
  expect(hashText("abc")).toBe("44bc2cf5ad770999");
});

test("hashes are 16 digits, also small ones", () => {
  fc.assert(fc.property(fc.string(), (text) => /^[\da-f]{16}$/.test(hashText(text))));
});

test("the order of keys and undefined fields do not matter; the order of lists does", () => {
  expect(canonicalHash({ a: 1, b: { c: 2, d: undefined } })).toBe(
    canonicalHash({ b: { c: 2 }, a: 1 }),
  );
  expect(canonicalHash([1, 2])).not.toBe(canonicalHash([2, 1]));
});

test("canonical JSON keeps the value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
