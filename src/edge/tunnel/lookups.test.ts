import { expect, test } from "vitest";
import { Lookups } from "./lookups.ts";

test("an address is asked for once; one that nobody has is not asked for again for a while", () => {
  const lookups = new Lookups();
  expect([lookups.note("a", 0), lookups.note("a", 1), lookups.note("b", 1)]).toEqual([
    "ask",
    "wait",
    "ask",
  ]);
  lookups.missed("a", 10);
  expect([lookups.note("a", 11), lookups.note("a", 10_009), lookups.note("a", 10_010)]).toEqual([
    "drop",
    "drop",
    "ask",
  ]);
  lookups.found("a");
  expect(lookups.note("a", 10_011)).toBe("ask");
});

test("an answer that never comes blocks nothing for good", () => {
  const lookups = new Lookups();
  lookups.note("a", 0);
  expect(lookups.expire(4999)).toEqual([]);
  expect(lookups.expire(5000)).toEqual(["a"]);
  expect(lookups.note("a", 5001)).toBe("ask");
});

test("what is remembered is bounded", () => {
  const lookups = new Lookups();
  const asked = Array.from({ length: 5000 }, (_, index) => lookups.note(String(index), 0));
  expect(asked.filter((what) => what === "ask")).toHaveLength(4096);
  for (let index = 0; index < 5000; index += 1) lookups.missed(String(index), 0);
  expect([lookups.note("0", 1), lookups.note("4999", 1)]).toEqual(["ask", "drop"]);
});
