import fc from "fast-check";
import { expect, test } from "vitest";
import { aliasTable } from "./alias-table.ts";

/** How much of all choices each index gets. */
function sharesOf(table: ReturnType<typeof aliasTable>): readonly number[] {
  const shares = table.map(() => 0);
  for (const { threshold, first, other } of table) {
    const share = first === other ? 1 : threshold / 2 ** 32;
    shares[first] = (shares[first] ?? 0) + share / table.length;
    shares[other] = (shares[other] ?? 0) + (1 - share) / table.length;
  }
  return shares;
}

test("equal shares need no second choice", () => {
  expect(aliasTable([1])).toEqual([{ threshold: 2 ** 32 - 1, first: 0, other: 0 }]);
  for (const { first, other } of aliasTable([0.25, 0.25, 0.25, 0.25])) expect(other).toBe(first);
});

test("a small share gives the rest of its slot to a large one", () => {
  expect(aliasTable([0.25, 0.75])).toEqual([
    { threshold: 2 ** 31, first: 0, other: 1 },
    { threshold: 2 ** 32 - 1, first: 1, other: 1 },
  ]);
});

test("any weights are met", () => {
  const weights = fc.array(fc.integer({ min: 1, max: 65_535 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(weights, (all) => {
      const sum = all.reduce((total, weight) => total + weight, 0);
      const shares = sharesOf(aliasTable(all.map((weight) => weight / sum)));
      for (const [index, weight] of all.entries()) {
        expect(shares[index]).toBeCloseTo(weight / sum, 7);
      }
    }),
  );
});
