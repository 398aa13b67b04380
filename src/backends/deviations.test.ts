import { describe, expect, test } from "vitest";
import { DEVIATIONS, type Deviation, describeDeviation, deviationsOf } from "./deviations.ts";

const ROW: Deviation = {
  id: "one/no-udp",
  backend: "one",
  scenarios: /\/udp\//,
  fact: "the platform has no UDP",
  instead: "UDP goes its way untouched",
  evidence: "one.test.ts: the platform refuses UDP",
};

test("those of a backend are its own", () => {
  const other = { ...ROW, id: "two/no-udp", backend: "two" };
  expect(deviationsOf("one", [ROW, other])).toEqual([ROW]);
  expect(deviationsOf("three", [ROW, other])).toEqual([]);
});

test("people are told with which option it does not hold", () => {
  expect(describeDeviation(ROW)).toBe("the platform has no UDP UDP goes its way untouched");
  expect(describeDeviation({ ...ROW, unless: "--udp" })).toMatch(/ \(Not with --udp\.\)$/);
});

describe(`the ${DEVIATIONS.length} declared deviations`, () => {
  test("have ids that begin with their backend and are unique", () => {
    const ids = DEVIATIONS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, backend } of DEVIATIONS) expect(id).toMatch(new RegExp(`^${backend}/.+`));
  });

  test("say all that people are told, and match without a memory", () => {
    for (const { fact, instead, evidence, scenarios } of DEVIATIONS) {
      for (const text of [fact, instead, evidence]) expect(text).not.toBe("");
      expect(scenarios.flags).not.toMatch(/[gy]/);
    }
  });
});
