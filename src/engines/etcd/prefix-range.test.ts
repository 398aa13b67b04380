import fc from "fast-check";
import { expect, test } from "vitest";
import { keyAfter, prefixRange } from "./prefix-range.ts";

test("a range has just the keys that begin with its prefix", () => {
  const text = fc.string({ unit: "binary", minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(text, text, fc.boolean(), (prefix, other, isBelow) => {
      const key = Buffer.from(isBelow ? prefix + other : other);
      const { key: first, end } = prefixRange(prefix);
      const isIn = Buffer.compare(key, first) >= 0 && Buffer.compare(key, end) < 0;
      expect(isIn).toBe(key.subarray(0, first.length).equals(first));
    }),
  );
});

test("nothing comes between a key and the one after it", () => {
  const key = Buffer.from("/a");
  const after = keyAfter(key);
  expect(Buffer.compare(key, after)).toBe(-1);
  expect(after).toEqual(Buffer.from([0x2f, 0x61, 0x00]));
});
