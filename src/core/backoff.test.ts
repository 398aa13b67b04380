import fc from "fast-check";
import { expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";

const OPTIONS = { firstMs: 100, maxMs: 1000 };

test("doubles up to the limit", () => {
  expect([1, 2, 3, 4, 5, 50].map((failures) => backoffMs(OPTIONS, failures, 0))).toEqual([
    100, 200, 400, 800, 1000, 1000,
  ]);
});

test("chance takes away at most half, and never adds", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2000 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (n, random) => {
        const fullMs = backoffMs(OPTIONS, n, 0);
        const waitMs = backoffMs(OPTIONS, n, random);
        expect(waitMs).toBeLessThanOrEqual(fullMs);
        expect(waitMs).toBeGreaterThanOrEqual(fullMs / 2);
      },
    ),
  );
});
