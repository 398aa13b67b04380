import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_WEIGHTED_SLOTS, type Weighted, weightSlots } from "./weight-slots.ts";

function weighted(item: string, weight: number, group = "g", groupWeight = 1): Weighted<string> {
  return { item, weight, group, groupWeight };
}

const slotsOf = (...items: readonly Weighted<string>[]) => Object.fromEntries(weightSlots(items));

test("equal weights have one slot each, whatever the weight", () => {
  expect(slotsOf(weighted("a", 7), weighted("b", 7), weighted("c", 7))).toEqual({
    a: 1,
    b: 1,
    c: 1,
  });
});

test("weights are reduced", () => {
  expect(slotsOf(weighted("a", 10), weighted("b", 30))).toEqual({ a: 1, b: 3 });
});

test("the weights of groups count, then those within", () => {
  const items = [
    weighted("a", 1, "g", 1),
    weighted("b", 1, "h", 3),
    weighted("c", 2, "h", 3),
  ] as const;
  expect(slotsOf(...items)).toEqual({ a: 1, b: 1, c: 2 });
});

test("what is there through two groups has the slots of both", () => {
  expect(slotsOf(weighted("a", 1, "g", 1), weighted("a", 1, "h", 2))).toEqual({ a: 3 });
});

test("groups whose weights have nothing in common are many, and each has its share", () => {
  // Distinct primes: their product is beyond all numbers.
  const primes = Array.from({ length: 60_000 }, (_, index) => 65_536 - index).filter(isPrime);
  const items = primes
    .slice(0, 75)
    .flatMap((prime, group) => [
      weighted(`${group} small`, 1, `${group}`),
      weighted(`${group} large`, prime - 1, `${group}`),
    ]);
  const slots = weightSlots(items);
  expect(slots.size).toBe(150);
  for (let group = 0; group < 75; group += 1) {
    expect(slots.get(`${group} small`)).toBe(1);
    expect(slots.get(`${group} large`)).toBe(3);
  }
});

function isPrime(number: number): boolean {
  for (let by = 2; by * by <= number; by += 1) if (number % by === 0) return false;
  return true;
}

const WEIGHTS = fc.array(fc.integer({ min: 1, max: 65_535 }), { minLength: 1, maxLength: 20 });

test("shares are right to within a slot, and nobody is left out", () => {
  fc.assert(
    fc.property(WEIGHTS, (weights) => {
      const slots = weightSlots(weights.map((weight, index) => weighted(`${index}`, weight)));
      const all = [...slots.values()].reduce((sum, count) => sum + count, 0);
      const sum = weights.reduce((total, weight) => total + weight, 0);
      weights.forEach((weight, index) => {
        const count = slots.get(`${index}`) ?? 0;
        expect(count).toBeGreaterThanOrEqual(1);
        // Everyone has at least one slot, so the others' shares shrink by as many.
        const slack = (1 + weights.length) / Math.min(all, MAX_WEIGHTED_SLOTS);
        if (all > MAX_WEIGHTED_SLOTS - weights.length) {
          expect(Math.abs(count / all - weight / sum)).toBeLessThan(slack);
        }
      });
    }),
  );
});
