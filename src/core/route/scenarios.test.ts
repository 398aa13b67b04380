import { afterAll, describe, expect, test } from "vitest";
import { route } from "./route.ts";
import type { Expected, Scenario } from "./scenarios/scenario.ts";
import { globalStateOf } from "./scenarios/scenario.ts";
import { SCENARIOS } from "./scenarios.ts";
import type { Verdict } from "./verdict.ts";

/** The verdict, in the words of a scenario. */
function inScenarioWords(verdict: Verdict): unknown {
  if (verdict.kind !== "endpoints") return { kind: verdict.kind };
  const endpoints = verdict.candidates.map(
    ({ endpoint, address, targetPort, probability, masquerade }) => ({
      workload: endpoint.name,
      address,
      targetPort,
      probability,
      masquerade,
    }),
  );
  return { kind: verdict.kind, endpoints };
}

function withCloseProbabilities(expected: Expected): unknown {
  if (expected.kind !== "endpoints") return expected;
  const endpoints = expected.endpoints.map((one) => ({
    ...one,
    probability: expect.closeTo(one.probability, 9),
  }));
  return { kind: expected.kind, endpoints };
}

function routeScenario({ objects, node, packet, policy, observed }: Scenario): Verdict {
  return route({ global: globalStateOf(objects), node }, packet, policy, observed);
}

describe(`the reference semantics in ${SCENARIOS.length} scenarios`, () => {
  test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    "%s",
    (_, scenario) => {
      expect(inScenarioWords(routeScenario(scenario))).toEqual(
        withCloseProbabilities(scenario.expected),
      );
    },
  );
});

afterAll(() => {
  process.stdout.write(`${SCENARIOS.length} scenarios of the reference semantics\n`);
});

test("names are unique", () => {
  const names = SCENARIOS.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("every verdict gives reasons, and one with candidates accounts for every endpoint", () => {
  for (const scenario of SCENARIOS) {
    const verdict = routeScenario(scenario);
    expect(verdict.reasons.length, scenario.name).toBeGreaterThan(0);
    if (verdict.kind !== "endpoints") continue;
    const servers = scenario.objects.filter(({ kind }) => kind === "Endpoint");
    expect(verdict.candidates.length + verdict.others.length, scenario.name).toBe(servers.length);
  }
});
