import { expect, test } from "vitest";
import type { DirectClaim } from "./direct-entries.ts";
import { type DirectChanges, DirectPlan } from "./direct-plan.ts";

/** One address with endpoints of equal weight, by the last number of their addresses. */
function claim(ip: string, ...endpoints: readonly number[]): DirectClaim {
  const place = { ip, port: 80 };
  const targets = endpoints.map((number) => ({
    ip: `10.1.0.${number}`,
    port: 8080,
    share: 1 / endpoints.length,
  }));
  return { place, entry: endpoints.length === 0 ? undefined : { place, targets } };
}

function textOf(changes: DirectChanges): readonly string[] {
  return [
    ...changes.removedPlaces.map(({ ip }) => `remove ${ip}`),
    ...changes.lists.map(({ id, slots }) => `list ${id}: ${slots.map(({ first }) => first.ip)}`),
    ...changes.frontends.map(({ place, list }) => `lead ${place.ip} to ${list}`),
    ...changes.removedLists.map(({ list, slotCount }) => `drop ${list} of ${slotCount}`),
  ];
}

test("a changed list gets a new number, and only what changed is told", () => {
  const plan = new DirectPlan();
  plan.replace("web", [claim("10.96.0.1", 1)]);
  plan.replace("other", [claim("10.96.0.2", 2)]);
  expect(textOf(plan.takeChanges())).toEqual([
    "list 1: 10.1.0.1",
    "list 2: 10.1.0.2",
    "lead 10.96.0.1 to 1",
    "lead 10.96.0.2 to 2",
  ]);
  plan.replace("web", [claim("10.96.0.1", 1, 3)]);
  plan.replace("other", [claim("10.96.0.2", 2)]);
  expect(plan.takeRetreats()).toEqual({ removedPlaces: [], removedLists: [] });
  expect(textOf(plan.takeChanges())).toEqual([
    "list 3: 10.1.0.1,10.1.0.3",
    "lead 10.96.0.1 to 3",
    "drop 1 of 1",
  ]);
  expect(textOf(plan.takeChanges())).toEqual([]);
});

test("a list of which somebody is gone goes before the rules change", () => {
  const plan = new DirectPlan();
  plan.replace("web", [claim("10.96.0.1", 1, 2)]);
  plan.replace("gone", [claim("10.96.0.2", 1)]);
  plan.takeChanges();
  plan.replace("web", [claim("10.96.0.1", 2, 3)]);
  plan.replace("gone", []);
  const { removedPlaces, removedLists } = plan.takeRetreats();
  expect(removedPlaces.map(({ ip }) => ip)).toEqual(["10.96.0.1", "10.96.0.2"]);
  expect(removedLists.map(({ list }) => list)).toEqual([1, 2]);
  expect(plan.size).toBe(0);
  expect(textOf(plan.takeChanges())).toEqual(["list 3: 10.1.0.2,10.1.0.3", "lead 10.96.0.1 to 3"]);
});

test("an address that two claim is left to the rules until one of them goes", () => {
  const plan = new DirectPlan();
  plan.replace("web", [claim("10.96.0.1", 1)]);
  plan.takeChanges();
  plan.replace("thief", [claim("10.96.0.1", 2)]);
  expect(textOf(plan.takeChanges())).toEqual(["remove 10.96.0.1", "drop 1 of 1"]);
  plan.replace("web", []);
  expect(textOf(plan.takeChanges())).toEqual(["list 2: 10.1.0.2", "lead 10.96.0.1 to 2"]);
  plan.replace("stranger", [claim("10.96.0.1")]);
  expect(textOf(plan.takeChanges())).toEqual(["remove 10.96.0.1", "drop 2 of 1"]);
});

test("one service may have an address in two ways", () => {
  const plan = new DirectPlan();
  plan.replace("web", [claim("10.96.0.1"), claim("10.96.0.1", 1)]);
  expect(textOf(plan.takeChanges())).toEqual(["list 1: 10.1.0.1", "lead 10.96.0.1 to 1"]);
  plan.replace("web", []);
  expect(textOf(plan.takeChanges())).toEqual(["remove 10.96.0.1", "drop 1 of 1"]);
});

test("what does not fit waits until there is room", () => {
  const plan = new DirectPlan({ frontends: 2, slots: 3 });
  plan.replace("a", [claim("10.96.0.1", 1, 2)]);
  plan.replace("b", [claim("10.96.0.2", 1, 2)]);
  plan.replace("c", [claim("10.96.0.3", 1)]);
  plan.replace("d", [claim("10.96.0.4", 1)]);
  expect(plan.takeChanges().frontends.map(({ place }) => place.ip)).toEqual([
    "10.96.0.1",
    "10.96.0.3",
  ]);
  expect([plan.size, plan.unfit]).toEqual([2, 2]);
  plan.replace("a", []);
  expect(plan.takeChanges().frontends.map(({ place }) => place.ip)).toEqual(["10.96.0.2"]);
  expect([plan.size, plan.unfit]).toEqual([2, 1]);
});

test("after a failure all is told again", () => {
  const plan = new DirectPlan();
  plan.replace("web", [claim("10.96.0.1", 1)]);
  plan.takeChanges();
  plan.forget();
  expect(plan.size).toBe(0);
  expect(textOf(plan.takeChanges())).toEqual(["list 2: 10.1.0.1", "lead 10.96.0.1 to 2"]);
});

test("who has no room for its new list is led by no old one, and comes back when there is", () => {
  const plan = new DirectPlan({ frontends: 10, slots: 3 });
  plan.replace("web", [claim("10.96.0.1", 1, 2)]);
  plan.takeChanges();
  plan.replace("web", [claim("10.96.0.1", 1, 2, 3)]);
  expect(plan.takeRetreats().removedPlaces).toEqual([]);
  expect(textOf(plan.takeChanges())).toEqual(["remove 10.96.0.1", "drop 1 of 2"]);
  expect([plan.size, plan.unfit]).toEqual([0, 1]);
  expect(textOf(plan.takeChanges())).toEqual([
    "list 2: 10.1.0.1,10.1.0.2,10.1.0.3",
    "lead 10.96.0.1 to 2",
  ]);
  expect([plan.size, plan.unfit]).toEqual([1, 0]);
});
