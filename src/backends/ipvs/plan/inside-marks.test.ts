import { expect, test } from "vitest";
import { INSIDE_BIT, InsideMarks, isGivenMark } from "./inside-marks.ts";

const MASQUERADE_BIT = 14;

test("a name has the same mark after a restart, and two names never have the same", () => {
  const marks = new InsideMarks(MASQUERADE_BIT);
  const of = (from: InsideMarks): number[] =>
    Array.from({ length: 2000 }, (_, index) => from.markOf(`default/s${index}`, "main TCP"));
  const given = of(marks);
  expect(new Set(given).size).toBe(given.length);
  expect(of(new InsideMarks(MASQUERADE_BIT))).toEqual(given);
  expect(of(marks)).toEqual(given);
});

test("marks leave the bits of others alone", () => {
  const marks = new InsideMarks(MASQUERADE_BIT);
  for (let index = 0; index < 500; index += 1) {
    const mark = marks.markOf(`default/s${index}`, "");
    expect(Math.floor(mark / INSIDE_BIT)).toBe(1);
    expect(mark & ((1 << MASQUERADE_BIT) | (1 << 15))).toBe(0);
    expect(marks.bothOf(mark)).toEqual([mark, mark + 2 ** MASQUERADE_BIT]);
  }
});

test("what a service does not use any more is free", () => {
  const marks = new InsideMarks(MASQUERADE_BIT);
  const [kept] = [marks.markOf("default/web", "a TCP"), marks.markOf("default/web", "b TCP")];
  marks.markOf("default/other", "a TCP");
  marks.keepOnly("default/web", new Set([kept]));
  expect(marks.size).toBe(2);
  expect(marks.markOf("default/web", "a TCP")).toBe(kept);
  marks.keepOnly("default/web", new Set());
  marks.keepOnly("default/unknown", new Set());
  expect(marks.size).toBe(1);
});

test("a mark is known by what packets are given, with or without one bit more", () => {
  const given = new Set([0x2000_0007]);
  expect([0x2000_0007, 0x2000_4007].every((mark) => isGivenMark(mark, given))).toBe(true);
  const others = [0x2000_0005, 0x2000_c007, 0x4007, 77];
  expect(others.filter((mark) => isGivenMark(mark, given))).toEqual([]);
});
