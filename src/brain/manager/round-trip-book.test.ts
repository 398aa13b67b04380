import { expect, test } from "vitest";
import { RoundTripBook } from "./round-trip-book.ts";

test("tells what each node told last, and how long ago; what is old or of nodes that left is gone", () => {
  let nowMs = 1000;
  const book = new RoundTripBook(() => nowMs);
  book.note("a", { b: 9 });
  book.note("c", { b: 3 });
  nowMs = 31_000;
  book.note("a", { b: 1.5, c: 2 });
  expect(book.list()).toEqual([
    { node: "a", ageMs: 0, toMs: { b: 1.5, c: 2 } },
    { node: "c", ageMs: 30_000, toMs: { b: 3 } },
  ]);
  nowMs = 61_001;
  expect(book.list()).toEqual([{ node: "a", ageMs: 30_001, toMs: { b: 1.5, c: 2 } }]);
  book.forget("a");
  expect(book.list()).toEqual([]);
});

test("does not tell more than a client can take", () => {
  const book = new RoundTripBook(() => 0);
  const toMs = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`n${index}`, index]));
  for (let node = 0; node < 100; node += 1) book.note(`n${node}`, toMs);
  expect(book.list()).toHaveLength(64);
});
