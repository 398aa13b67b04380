import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { WeightedTurns } from "./weighted-turns.ts";

const ANY = () => true;

function turnsOf(weights: Readonly<Record<string, number>>, random = seededRandom(1)) {
  const turns = new WeightedTurns<string>(random);
  for (const [name, weight] of Object.entries(weights)) turns.set(name, weight);
  return turns;
}

function take(turns: WeightedTurns<string>, count: number): string[] {
  return Array.from({ length: count }, () => turns.next(ANY) ?? "-");
}

function count(taken: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of taken) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function longestRun(taken: readonly string[], name: string): number {
  const runs = taken.map((one) => (one === name ? "x" : " ")).join("");
  return Math.max(...runs.split(" ").map((run) => run.length));
}

test("weights 5, 1, 1 are spread: never five of one in a row", () => {
  const taken = take(turnsOf({ a: 5, b: 1, c: 1 }), 70);
  expect(count(taken)).toEqual({ a: 50, b: 10, c: 10 });
  expect(longestRun(taken, "a")).toBeLessThanOrEqual(4);
});

test("many light ones are spread between the turns of a heavy one, not bunched", () => {
  const light = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`light${n}`, 1]));
  const taken = take(turnsOf({ heavy: 10, ...light }), 200);
  expect(longestRun(taken, "heavy")).toBeLessThanOrEqual(2);
  const others = taken.map((name) => (name === "heavy" ? name : "light"));
  expect(longestRun(others, "light")).toBeLessThanOrEqual(2);
});

test("equal weights take turns in one order", () => {
  const taken = take(turnsOf({ a: 10, b: 10, c: 10 }), 30);
  const period = taken.slice(0, 3);
  expect([...period].sort()).toEqual(["a", "b", "c"]);
  expect(taken).toEqual(Array.from({ length: 10 }, () => period).flat());
});

test("where it begins is random", () => {
  const firsts = Array.from({ length: 100 }, (_, seed) =>
    turnsOf({ a: 1, b: 1, c: 1 }, seededRandom(seed)).next(ANY),
  );
  expect(new Set(firsts)).toEqual(new Set(["a", "b", "c"]));
});

test("shares are exact in every whole period, from whichever turn it is counted", () => {
  const weights = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(weights, fc.nat(), fc.nat({ max: 50 }), (list, seed, offset) => {
      const named = Object.fromEntries(list.map((weight, index) => [`s${index}`, weight]));
      const period = list.reduce((sum, weight) => sum + weight, 0);
      const turns = turnsOf(named, seededRandom(seed));
      take(turns, offset);
      const counts = count(take(turns, period * 10));
      for (const [name, weight] of Object.entries(named)) {
        expect(Math.abs((counts[name] ?? 0) - weight * 10)).toBeLessThanOrEqual(1);
      }
    }),
  );
});

test("a change of weight counts from then on, and disturbs nobody else", () => {
  const turns = turnsOf({ a: 1, b: 1 });
  take(turns, 1000);
  turns.set("a", 3);
  const { a = 0, b = 0 } = count(take(turns, 400));
  expect(Math.abs(a - 300)).toBeLessThanOrEqual(1);
  expect(Math.abs(b - 100)).toBeLessThanOrEqual(1);
});

test("weight 0 takes it out, and it can come back", () => {
  const turns = turnsOf({ a: 1, b: 1, never: 0 });
  turns.set("a", 0);
  expect(count(take(turns, 10))).toEqual({ b: 10 });
  turns.set("b", 0);
  expect(turns.next(ANY)).toBeUndefined();
  turns.set("a", 1);
  expect(count(take(turns, 10))).toEqual({ a: 10 });
});

test("who was passed over for long does not take all turns afterwards", () => {
  const turns = turnsOf({ a: 1, b: 1 });
  for (let turn = 0; turn < 1000; turn++) expect(turns.next((name) => name === "b")).toBe("b");
  const { a = 0 } = count(take(turns, 20));
  expect(a).toBeGreaterThanOrEqual(10);
  expect(a).toBeLessThanOrEqual(12);
});
