import { expect, test } from "vitest";
import { ClientBudget } from "./client-budget.ts";

const OPTIONS = { perSecond: 10, burst: 3, maxClients: 2 };

test("a client that asks too much is not heard until it has waited; others are", () => {
  const budget = new ClientBudget(OPTIONS);
  const asked = [0, 0, 0, 0, 100, 100].map((nowMs) => budget.spend("a", nowMs));
  expect(asked).toEqual([true, true, true, false, true, false]);
  expect(budget.spend("b", 100)).toBe(true);
  // However long it waited.
  expect([1, 2, 3, 4].map(() => budget.spend("a", 100_000))).toEqual([true, true, true, false]);
});

test("only so many clients are remembered: the one that asked longest ago is forgotten", () => {
  const budget = new ClientBudget({ ...OPTIONS, burst: 1 });
  expect([budget.spend("a", 0), budget.spend("b", 0), budget.spend("a", 0)]).toEqual([
    ...[true, true, false],
  ]);
  budget.spend("c", 0);
  expect([budget.spend("a", 0), budget.spend("b", 0)]).toEqual([false, true]);
});
