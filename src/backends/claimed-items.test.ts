import { expect, test } from "vitest";
import { ClaimedItems } from "./claimed-items.ts";

const items = () => new ClaimedItems<string>((a, b) => a === b);

test("is there while anybody claims it", () => {
  const some = items();
  some.claim("a", "1");
  some.claim("a", "1");
  expect(some.changes()).toEqual({ removed: [], set: [["a", "1"]] });
  some.commit();
  some.release("a");
  expect(some.changes()).toEqual({ removed: [], set: [] });
  some.release("a");
  expect(some.changes()).toEqual({ removed: ["a"], set: [] });
});

test("tells the same again until it is committed", () => {
  const some = items();
  some.claim("a", "1");
  expect(some.changes()).toEqual(some.changes());
  some.commit();
  expect(some.changes()).toEqual({ removed: [], set: [] });
});

test("what goes and comes back with another value is a change", () => {
  const some = items();
  some.claim("a", "1");
  some.commit();
  some.release("a");
  some.claim("a", "2");
  expect(some.changes()).toEqual({ removed: [], set: [["a", "2"]] });
});

test("what was found as it should be is compared once, and not with each change after", () => {
  let compared = 0;
  const some = new ClaimedItems<string>((a, b) => {
    compared += 1;
    return a === b;
  });
  const keys = ["a", "b", "c"];
  for (const key of keys) some.claim(key, "1");
  some.adopt(keys.map((key) => [key, "1"]));
  expect(some.changes()).toEqual({ removed: [], set: [] });
  expect(compared).toBe(keys.length);
  some.claim("a", "2");
  expect(some.changes()).toEqual({ removed: [], set: [["a", "2"]] });
  expect(compared).toBe(keys.length + 1);
});

test("what is barred is not there, whoever claims it, until it is barred no longer", () => {
  const barred = new Set<string>();
  const items = new ClaimedItems<string>(Object.is, (key) => barred.has(key));
  items.claim("a", "1");
  items.adopt([["a", "1"]]);
  expect(items.changes()).toEqual({ removed: [], set: [] });
  barred.add("a");
  items.adopt([["a", "1"]]);
  expect(items.changes()).toEqual({ removed: ["a"], set: [] });
  items.accept("a");
  expect(items.applied("a")).toBeUndefined();
  expect(items.changes()).toEqual({ removed: [], set: [] });
  barred.clear();
  items.adopt([]);
  expect(items.changes()).toEqual({ removed: [], set: [["a", "1"]] });
});
