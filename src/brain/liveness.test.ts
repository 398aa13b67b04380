import { expect, test } from "vitest";
import { Liveness } from "./liveness.ts";

test("who does not renew in time is dead, once, and lives again when it renews", () => {
  const liveness = new Liveness(5000);
  expect(liveness.renew("a", 0)).toBe(true);
  expect(liveness.renew("b", 1000)).toBe(true);
  expect(liveness.renew("a", 2000)).toBe(false);
  expect(liveness.nextMs).toBe(6000);
  expect(liveness.expire(5999)).toEqual([]);
  expect(liveness.expire(6000)).toEqual(["b"]);
  expect(liveness.expire(6000)).toEqual([]);
  expect([liveness.isAlive("a"), liveness.isAlive("b")]).toEqual([true, false]);
  expect(liveness.renew("b", 6500)).toBe(true);
  expect(liveness.expire(20_000)).toEqual(["a", "b"]);
  expect(liveness.nextMs).toBeUndefined();
});

test("who left is not told as dead", () => {
  const liveness = new Liveness(5000);
  liveness.renew("a", 0);
  liveness.forget("a");
  expect(liveness.expire(10_000)).toEqual([]);
});
