import fc from "fast-check";
import { expect, test } from "vitest";
import { WeightTree } from "./weight-tree.ts";

test("a fraction of the total falls into the slot that covers it", () => {
  const tree = new WeightTree();
  [4, 1, 0, 2].forEach((weight, slot) => {
    tree.set(slot, weight);
  });
  expect(tree.total).toBe(7);
  const slots = [0, 3.9, 4, 4.9, 5, 6.9].map((at) => tree.find(at / 7));
  expect(slots).toEqual([0, 0, 1, 1, 3, 3]);
});

test("it never finds a slot without weight, whatever fractions were there before", () => {
  const change = fc.tuple(fc.nat({ max: 40 }), fc.double({ min: 0, max: 1e6, noNaN: true }));
  fc.assert(
    fc.property(
      fc.array(change, { minLength: 1 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (changes, fraction) => {
        const tree = new WeightTree();
        const weights = new Map<number, number>();
        for (const [slot, weight] of changes) {
          tree.set(slot, weight);
          weights.set(slot, weight);
        }
        for (const [slot, weight] of weights) expect(tree.get(slot)).toBe(weight);
        if (tree.total > 0) expect(tree.get(tree.find(fraction))).toBeGreaterThan(0);
      },
    ),
  );
});
