import { expect, test } from "vitest";
import { SCOPES } from "../wire/sets/scopes.ts";
import { FrameCache } from "./frame-cache.ts";

test("gives a message again for the same value, as a copy", () => {
  const cache = new FrameCache(10_000);
  const [value, bytes] = [{}, Buffer.from("abc")];
  cache.set(value, undefined, bytes);
  bytes.fill(0);
  expect(cache.get(value)?.toString()).toBe("abc");
  expect(cache.get({})).toBeUndefined();
  expect(cache.get(value, SCOPES[1])).toBeUndefined();
});

test("forgets what was not asked for lately, and keeps what was", () => {
  const cache = new FrameCache(10_000);
  const values = Array.from({ length: 200 }, () => ({}));
  const [first = {}] = values;
  for (const value of values) {
    cache.set(value, undefined, Buffer.alloc(100));
    cache.get(first);
  }
  expect(cache.get(first)).toBeDefined();
  const kept = values.filter((value) => cache.get(value) !== undefined);
  expect(kept.length * 100).toBeLessThan(10_000);
});
