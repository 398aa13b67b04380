import { expect, test } from "vitest";
import { connectionOf } from "./connections.fixture.ts";
import { MOST_TAKEN } from "./fast-plane.ts";
import { RestedFlows } from "./rested-flows.ts";

const FEW = 256;
const TURNS = 12;
const { original: tuple } = connectionOf("v4").tracked;

/** With so many, numbered from 1 on. */
function restedOf(count: number): RestedFlows {
  const rested = new RestedFlows();
  for (let id = 1; id <= count; id += 1) rested.add({ id, tuple });
  return rested;
}

const idsOf = (rested: RestedFlows) => rested.turn().map(({ id }) => id);
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

test("nobody has a turn where there is none", () => {
  expect(new RestedFlows().turn()).toEqual([]);
});

test("each has its turn each time where they are few", () => {
  const rested = restedOf(FEW);
  for (let time = 0; time < 3; time += 1) expect(idsOf(rested)).toEqual(numbers(1, FEW));
  const [first] = rested.turn();
  expect(first).toEqual({ id: 1, tuple, corrections: 0 });
});

test("those that were not looked at for longest are next", () => {
  const rested = restedOf(FEW + 44);
  expect(idsOf(rested)).toEqual(numbers(1, FEW));
  expect(idsOf(rested)).toEqual([...numbers(FEW + 1, FEW + 44), ...numbers(1, FEW - 44)]);
});

test.each([TURNS * 300, TURNS * 300 - 11])(
  "all have one within twelve turns where they are many: %s",
  (count) => {
    const rested = restedOf(count);
    const turns = Array.from({ length: TURNS }, () => idsOf(rested));
    for (const ids of turns) expect(ids).toHaveLength(300);
    expect(turns.flat().slice(0, count)).toEqual(numbers(1, count));
  },
);

test("who is removed has none, and who is absent can be removed, too", () => {
  const rested = restedOf(3);
  for (const id of [2, 2, 99]) rested.remove(id);
  expect(idsOf(rested)).toEqual([1, 3]);
});

test("who was corrected four times is given up", () => {
  const rested = restedOf(2);
  for (let corrections = 0; corrections < 4; corrections += 1) {
    const [one] = rested.turn();
    expect(one).toEqual({ id: 1, tuple, corrections });
    if (one !== undefined) rested.correct(one);
  }
  expect(idsOf(rested)).toEqual([2]);
});

test("who rests anew is corrected as often again", () => {
  const rested = restedOf(1);
  const [one] = rested.turn();
  if (one !== undefined) rested.correct(one);
  expect(rested.turn()).toMatchObject([{ corrections: 1 }]);
  rested.add({ id: 1, tuple });
  expect(rested.turn()).toEqual([{ id: 1, tuple, corrections: 0 }]);
});

test("those that were there first are given up where they are too many", () => {
  const rested = restedOf(MOST_TAKEN + 2);
  const turns = Array.from({ length: TURNS }, () => idsOf(rested));
  expect(new Set(turns.flat())).toEqual(new Set(numbers(3, MOST_TAKEN + 2)));
});
