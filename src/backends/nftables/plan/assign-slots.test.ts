import fc from "fast-check";
import { expect, test } from "vitest";
import { assignSlots } from "./assign-slots.ts";

const wanted = (...pairs: readonly (readonly [string, number])[]) => new Map(pairs);

test("fills slots in turns", () => {
  expect(assignSlots([], wanted(["a", 1], ["b", 3]))).toEqual(["a", "b", "b", "b"]);
  expect(assignSlots([], wanted(["a", 2], ["b", 2]))).toEqual(["a", "b", "a", "b"]);
});

test("who stays keeps its slot, and who comes takes the one that is free", () => {
  expect(assignSlots(["a", "b", "c"], wanted(["c", 1], ["d", 1], ["a", 1]))).toEqual([
    "a",
    "d",
    "c",
  ]);
});

test("the last one moves into a gap", () => {
  expect(assignSlots(["a", "b", "c"], wanted(["b", 1], ["c", 1]))).toEqual(["c", "b"]);
});

test("who comes goes to the end", () => {
  expect(assignSlots(["b", "a"], wanted(["a", 1], ["b", 1], ["c", 1]))).toEqual(["b", "a", "c"]);
});

const TARGETS = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "f"));

test("all have their slots, without gaps, and as many as can stay do", () => {
  fc.assert(
    fc.property(TARGETS, TARGETS, (before, targets) => {
      const slots = assignSlots(before, new Map(targets.map((target) => [target, 1])));
      expect([...slots].sort()).toEqual([...targets].sort());
      before.slice(0, targets.length).forEach((target, slot) => {
        if (targets.includes(target)) expect(slots[slot]).toBe(target);
      });
    }),
  );
});
