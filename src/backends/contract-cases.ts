import type { Scenario } from "../core/route/scenarios/scenario.ts";
import { type Capabilities, unmetNeeds } from "./capabilities.ts";
import { type ContractDriver, judgeScenario } from "./contract-judge.ts";
import type { Deviation } from "./deviations.ts";

/** One test of the contract. */
export interface ContractCase {
  readonly name: string;
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
  return [
    ...plan.deviations.map((deviation) => deviationCase(deviation, plan.scenarios)),
    ...plan.scenarios.map((scenario) => {
      const deviation = covering(scenario);
      const unmet = unmetNeeds(plan.capabilities, scenario.needs);
      return deviation === undefined
        ? agreeingCase(scenario, unmet, plan.backend)
        : deviatingCase(scenario, unmet, deviation);
    }),
  ];
}

function deviationCase({ id, scenarios }: Deviation, all: readonly Scenario[]): ContractCase {
  return {
    name: `deviation ${id} covers a scenario`,
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
    run: async (driver) => {
      if (unmet.length > 0) return undefined;
      const disagreement = await judgeScenario(scenario, driver);
      return disagreement === undefined
        ? `it agrees with the reference: deviation ${id} is not needed here`
        : undefined;
    },
  };
}
