import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Scenario } from "../core/route/scenarios/scenario.ts";
import { SCENARIOS } from "../core/route/scenarios.ts";
import type { Capabilities } from "./capabilities.ts";
import { planContract } from "./contract-cases.ts";
import type { ContractDriver } from "./contract-judge.ts";
import { DEVIATIONS, type Deviation, deviationsOf } from "./deviations.ts";

/** A backend that is held against the reference semantics. */
export interface ContractSubject {
  /** Its name. */
  readonly backend: string;
  readonly capabilities: Capabilities;
  /** Called once, before the first scenario. */
  open(): Promise<ContractDriver>;
  /** Default: all. */
  readonly scenarios?: readonly Scenario[];
  /** Default: the declared ones. */
  readonly deviations?: readonly Deviation[];
}

/**
 * The whole contract test of a backend:
 *
 *     runBackendContract({ backend: "nftables", capabilities, open: () => openNamespaces() });
 *
 * Registers one test for each scenario and for each deviation that is declared for the backend.
 */
export function runBackendContract(subject: ContractSubject): void {
  const { backend, capabilities, scenarios = SCENARIOS } = subject;
  const deviations = deviationsOf(backend, subject.deviations ?? DEVIATIONS);
  const title = `${backend}: ${scenarios.length} scenarios, ${deviations.length} declared deviations`;
  describe(title, () => {
    let driver: ContractDriver | undefined;
    beforeAll(async () => {
      driver = await subject.open();
    });
    afterAll(() => driver?.close());

    for (const { name, run } of planContract({ backend, capabilities, scenarios, deviations })) {
      test(name, async () => {
        const problem = driver === undefined ? "the driver did not open" : await run(driver);
        expect(problem).toBeUndefined();
      });
    }
  });
}
