import { hasAffinity, type Scenario } from "../core/route/scenarios/scenario.ts";
import type { Capabilities } from "./capabilities.ts";
import { type ContractDriver, judgeScenario } from "./contract-judge.ts";
import type { Deviation } from "./deviations.ts";
import { unmetNeeds } from "./unmet-needs.ts";

/** One test of the contract. */
export interface ContractCase {
  readonly name: string;
  /** Cases with the same one need the same state of the data plane; these stand together. */
  readonly state: string;
  /** What is wrong, in words; undefined where nothing is. */
  run(driver: ContractDriver): Promise<string | undefined>;
}

export interface ContractPlan {
  readonly backend: string;
  readonly capabilities: Capabilities;
  readonly scenarios: readonly Scenario[];
  /** Those of the backend. */
  readonly deviations: readonly Deviation[];
}

/**
 * One case for each scenario and one for each deviation. A scenario is never just left out: it agrees
 * with the reference, or a deviation declares that it does not, and then it must not.
 */
export function planContract(plan: ContractPlan): readonly ContractCase[] {
  const covering = (scenario: Scenario) =>
    plan.deviations.find((deviation) => deviation.scenarios.test(scenario.name));
  const cases = [
    ...plan.deviations.map((deviation) => deviationCase(deviation, plan.scenarios)),
    ...plan.scenarios.map((scenario) => {
      const deviation = covering(scenario);
      const unmet = unmetNeeds(plan.capabilities, scenario.needs);
      return deviation === undefined
        ? agreeingCase(scenario, unmet, plan.backend)
        : deviatingCase(scenario, unmet, deviation);
    }),
  ];
  const byState = new Map<string, ContractCase[]>();
  for (const one of cases) {
    const together = byState.get(one.state);
    if (together === undefined) byState.set(one.state, [one]);
    else together.push(one);
  }
  return [...byState.values()].flat();
}

/** What calls before it did to a scenario with affinity is made anew for each of them. */
function stateOf(scenario: Scenario): string {
  const { name, objects, policy } = scenario;
  return hasAffinity(scenario) ? name : JSON.stringify([policy, objects]);
}

function deviationCase({ id, scenarios }: Deviation, all: readonly Scenario[]): ContractCase {
  return {
    name: `deviation ${id} covers a scenario`,
    state: "",
    run: async () =>
      all.some(({ name }) => scenarios.test(name))
        ? undefined
        : `no scenario has a name like ${scenarios}: deviation ${id} is not needed`,
  };
}

function agreeingCase(scenario: Scenario, unmet: readonly string[], backend: string): ContractCase {
  const undeclared = `${backend} lacks ${unmet.join(", ")}, and no deviation says why`;
  return {
    name: scenario.name,
    state: stateOf(scenario),
    run: async (driver) => (unmet.length > 0 ? undeclared : judgeScenario(scenario, driver)),
  };
}

/** What a backend does not claim to do is not tried; what it claims is, and has to fail. */
function deviatingCase(
  scenario: Scenario,
  unmet: readonly string[],
  { id, fact }: Deviation,
): ContractCase {
  return {
    name: `${scenario.name} (deviates: ${fact})`,
    state: stateOf(scenario),
    run: async (driver) => {
      if (unmet.length > 0) return undefined;
      const disagreement = await judgeScenario(scenario, driver);
      return disagreement === undefined
        ? `it agrees with the reference: deviation ${id} is not needed here`
        : undefined;
    },
  };
}
