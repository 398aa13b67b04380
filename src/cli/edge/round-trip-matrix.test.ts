import { expect, test } from "vitest";
import { roundTripMatrix } from "./round-trip-matrix.ts";

const plain = (_colour: string, text: string): string => text;

test("a line for each node that measured, a column for each node", () => {
  const lines = roundTripMatrix(
    [
      { from: "a", to: "b", roundTripMs: 0.61 },
      { from: "a", to: "c", roundTripMs: 40.2 },
      { from: "c", to: "a", roundTripMs: 41 },
    ],
    plain,
  );
  expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
    ["ROUND TRIP FROM", "TO a", "TO b", "TO c"],
    ["a", "0.6 ms", "40 ms"],
    ["c", "41 ms", "-"],
  ]);
});

test("says how many nodes do not fit", () => {
  const all = Array.from({ length: 14 }, (_, index) => ({
    from: "a",
    to: `n${index}`,
    roundTripMs: index,
  }));
  expect(roundTripMatrix(all, plain).at(-1)).toBe("and 3 more nodes; --json has them");
});
