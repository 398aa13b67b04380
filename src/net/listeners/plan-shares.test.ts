import fc from "fast-check";
import { expect, test } from "vitest";
import { planShares } from "./plan-shares.ts";

test("each loop gets a socket that nobody has", () => {
  expect(planShares([undefined, undefined], ["a", "b"])).toEqual([
    { socket: 0, to: "a" },
    { socket: 1, to: "b" },
  ]);
});

test("nothing moves where all is well", () => {
  expect(planShares(["a", "b"], ["a", "b"])).toEqual([]);
  expect(planShares(["a", "b", "a"], ["a", "b"])).toEqual([]);
  expect(planShares(["a"], [])).toEqual([]);
});

test("the sockets of a loop that is gone go to the others, evenly", () => {
  expect(planShares(["a", "b", "c"], ["a", "b"])).toEqual([{ socket: 2, to: "a" }]);
});

test("a loop that comes gets one from who has most", () => {
  expect(planShares(["a", "a", "b"], ["a", "b", "c"])).toEqual([{ socket: 1, to: "c" }]);
});

test("after the moves every socket is held by a loop that runs, and they are even", () => {
  const names = fc.constantFrom("a", "b", "c", "d");
  const loopsOf = fc.uniqueArray(names, { minLength: 1 });
  const holdersOf = fc.array(fc.option(names, { nil: undefined }), { maxLength: 12 });
  fc.assert(
    fc.property(holdersOf, loopsOf, (holders, loops) => {
      const after: (string | undefined)[] = [...holders];
      const moves = planShares(holders, loops);
      for (const { socket, to } of moves) after[socket] = to;
      const counts = loops.map((loop) => after.filter((holder) => holder === loop).length);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(holders.length);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      expect(planShares(after, loops)).toEqual([]);
      expect(new Set(moves.map(({ socket }) => socket)).size).toBe(moves.length);
    }),
  );
});
