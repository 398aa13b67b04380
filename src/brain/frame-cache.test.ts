import { expect, test } from "vitest";
import { FrameCache } from "./frame-cache.ts";

test("gives a message again for the same value, as a copy", () => {
  const cache = new FrameCache(10_000);
  const [value, bytes] = [{}, Buffer.from("abc")];
  cache.set(value, bytes);
  bytes.fill(0);
  expect(cache.get(value)?.toString()).toBe("abc");
  expect(cache.get({})).toBeUndefined();
});

test("forgets what was not asked for lately, and keeps what was", () => {
  const cache = new FrameCache(10_000);
  const values = Array.from({ length: 200 }, () => ({}));
  const [first = {}] = values;
  for (const value of values) {
    cache.set(value, Buffer.alloc(100));
    cache.get(first);
  }
  expect(cache.get(first)).toBeDefined();
  const kept = values.filter((value) => cache.get(value) !== undefined);
  expect(kept.length).toBeLessThan(100);
});
