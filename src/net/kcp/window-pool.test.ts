import { expect, test } from "vitest";
import { WindowPool } from "./window-pool.ts";

test("each gets what it wants as long as there is much, and a share of the rest then", () => {
  const pool = new WindowPool(800);
  expect([pool.take(50), pool.take(500), pool.take(500)]).toEqual([50, 93, 82]);
  expect(pool.takenBytes).toBe(225);
});

test("however many take, it is never more than there is, and what is given back can be taken again", () => {
  const pool = new WindowPool(10_000);
  const taken = Array.from({ length: 200 }, () => pool.take(10_000));
  expect(pool.takenBytes).toBe(taken.reduce((sum, bytes) => sum + bytes, 0));
  expect(pool.takenBytes).toBeLessThanOrEqual(10_000);
  expect(pool.isScarce).toBe(true);
  for (const bytes of taken) pool.giveBack(bytes);
  expect([pool.takenBytes, pool.isScarce]).toEqual([0, false]);
});
