import { describe, expect, test } from "vitest";
import { FAMILIES } from "../../../core/model/address.ts";
import { byLinks, connectionOf } from "./connections.fixture.ts";
import { type FastFlow, idOf } from "./fast-flow.ts";
import { MOST_TAKEN } from "./fast-plane.ts";
import { ProposedFlows } from "./proposed-flows.ts";

const { asks, answers } = connectionOf("v4");
const other = connectionOf("v4", 1);
const nobody = () => false;

function paired(
  proposed: ProposedFlows,
  seen: readonly FastFlow[],
  isAnswered: (flow: FastFlow) => boolean,
): readonly FastFlow[] {
  return proposed.pair(seen, isAnswered).flat();
}

/** Some that nobody answers, each by a link of its own. */
function alone(count: number, from: number): readonly FastFlow[] {
  return Array.from({ length: count }, (_, number) => byLinks(other.asks, from + number, 1));
}

describe.each(FAMILIES)("a direction that is proposed, %s", (family) => {
  const one = connectionOf(family);

  test.each([
    ["what asks", one.asks, one.answers],
    ["what answers", one.answers, one.asks],
  ])("waits for the other one: %s", (_, first, second) => {
    const proposed = new ProposedFlows();
    expect(paired(proposed, [first], nobody)).toEqual([]);
    expect(paired(proposed, [first], nobody)).toEqual([]);
    expect(paired(proposed, [second], nobody)).toEqual([second, first]);
  });

  test("does not wait where the other one takes the path", () => {
    const proposed = new ProposedFlows();
    const isAnswered = (flow: FastFlow) => idOf(flow.key) === idOf(one.asks.key);
    expect(paired(proposed, [one.asks], isAnswered)).toEqual([one.asks]);
    // It was not kept, and one that takes the path itself waits like others.
    expect(paired(proposed, [one.answers], isAnswered)).toEqual([]);
  });
});

test("both are found among those that are proposed at once, and others wait", () => {
  const proposed = new ProposedFlows();
  const seen = [other.answers, asks, connectionOf("v6").asks, answers];
  expect(paired(proposed, seen, nobody)).toEqual([answers, asks]);
  expect(paired(proposed, [other.asks], nobody)).toEqual([other.asks, other.answers]);
});

test("both are given once", () => {
  const proposed = new ProposedFlows();
  paired(proposed, [asks], nobody);
  proposed.age();
  paired(proposed, [asks], nobody);
  expect(paired(proposed, [answers], nobody)).toHaveLength(2);
  expect(paired(proposed, [answers], nobody)).toEqual([]);
});

test("one that leaves by another link is not the other direction", () => {
  const proposed = new ProposedFlows();
  paired(proposed, [asks], nobody);
  expect(paired(proposed, [byLinks(answers, 2, 7)], nobody)).toEqual([]);
  expect(paired(proposed, [byLinks(answers, 2, 1)], nobody)).toHaveLength(2);
});

test.each([
  ["asks first", 0],
  ["answers first", 1],
])("what is answered by another link never takes the path: %s", (_, first) => {
  const proposed = new ProposedFlows();
  const both = [asks, byLinks(answers, 7, 1)];
  const seen = first === 0 ? both : both.toReversed();
  expect(seen.flatMap((flow) => paired(proposed, [flow], nobody))).toEqual([]);
});

test("it is given as it was proposed last", () => {
  const proposed = new ProposedFlows();
  const before = { ...asks, value: Uint8Array.from(asks.value).fill(0, 24, 36) };
  paired(proposed, [before], nobody);
  proposed.age();
  paired(proposed, [asks], nobody);
  expect(paired(proposed, [answers], nobody)).toEqual([answers, asks]);
});

test.each([
  [1, 2],
  [2, 0],
])("after %s times it was there already, %s are given", (times, count) => {
  const proposed = new ProposedFlows();
  paired(proposed, [asks], nobody);
  for (let time = 0; time < times; time += 1) proposed.age();
  expect(paired(proposed, [answers], nobody)).toHaveLength(count);
});

test("those that were proposed first are forgotten where they are too many", () => {
  const proposed = new ProposedFlows();
  paired(proposed, [asks, ...alone(MOST_TAKEN, 100)], nobody);
  expect(paired(proposed, [answers], nobody)).toEqual([answers, asks]);
  paired(proposed, [asks], nobody);
  paired(proposed, alone(2 * MOST_TAKEN, MOST_TAKEN + 100), nobody);
  expect(paired(proposed, [answers], nobody)).toEqual([]);
});
