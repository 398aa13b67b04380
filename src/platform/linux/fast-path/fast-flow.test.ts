import { describe, expect, test } from "vitest";
import { FAMILIES } from "../../../core/model/address.ts";
import { connectionOf, turned } from "./connections.fixture.ts";
import { answerKeyOf, idOf, isSettled, type TakenFlow, tupleOf } from "./fast-flow.ts";

describe.each(FAMILIES)("a direction of a connection, %s", (family) => {
  const { asked, sent, asks, answers } = connectionOf(family);

  test("has the ends that it comes with", () => {
    expect(tupleOf(asks)).toEqual(asked);
    expect(tupleOf(answers)).toEqual(turned(sent));
  });

  test("is read where it is among other bytes", () => {
    const all = Buffer.concat([Buffer.alloc(3, 0xee), asks.key, Buffer.alloc(5, 0xee)]);
    const key = all.subarray(3, 3 + asks.key.length);
    expect(tupleOf({ ...asks, key })).toEqual(asked);
    expect(idOf(key)).toBe(idOf(asks.key));
  });

  test("is answered by the other one, and that by itself", () => {
    expect(idOf(answerKeyOf(asks))).toBe(idOf(answers.key));
    expect(idOf(answerKeyOf(answers))).toBe(idOf(asks.key));
  });

  test("is another one by another link", () => {
    const key = Uint8Array.from(asks.key);
    key[0] = 7;
    expect(tupleOf({ ...asks, key })).toEqual(asked);
    expect(idOf(key)).not.toBe(idOf(asks.key));
  });
});

test("keys of both families are different", () => {
  const ids = FAMILIES.flatMap((family) => {
    const { asks, answers } = connectionOf(family);
    return [idOf(asks.key), idOf(answers.key)];
  });
  expect(new Set(ids).size).toBe(4);
});

test.each([
  ["all is acknowledged", [100, 200], [200, 100], true],
  ["nothing was said yet", [0, 0], [0, 0], true],
  ["the first has more to say", [101, 200], [200, 100], false],
  ["the second has more to say", [100, 200], [201, 100], false],
  ["neither is acknowledged", [101, 200], [201, 100], false],
  ["the first only asked whether the second is there", [99, 200], [200, 100], true],
  ["numbers begin anew", [0xffff_ffff, 3], [3, 0xffff_ffff], true],
  ["the first only asked, where numbers begin anew", [0xffff_ffff, 3], [3, 1], true],
  ["the first has more to say, where numbers begin anew", [1, 3], [3, 0xffff_ffff], false],
  ["nothing is known of the second", [101, 201], [0, 0], true],
  ["the first has said nothing yet", [0, 200], [200, 0x9000_0000], true],
  ["the first has acknowledged nothing yet", [100, 0], [200, 100], true],
  [
    "the first has said nothing yet, and the second has more to say",
    [0, 200],
    [201, 0x9000_0000],
    false,
  ],
  ["the first has acknowledged nothing yet, and has more to say", [101, 0], [200, 100], false],
] as const)("settled or not: %s", (_, one, other, isIt) => {
  const { asks, answers } = connectionOf("v4");
  const taken = (flow: typeof asks, [end, acknowledged]: readonly [number, number]): TakenFlow => ({
    ...flow,
    untilNs: 0n,
    end,
    acknowledged,
  });
  expect(isSettled(taken(asks, one), taken(answers, other))).toBe(isIt);
  expect(isSettled(taken(answers, other), taken(asks, one))).toBe(isIt);
});
