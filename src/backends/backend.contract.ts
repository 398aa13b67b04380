import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Scenario } from "../core/route/scenarios/scenario.ts";
import { SCENARIOS } from "../core/route/scenarios.ts";
import type { Capabilities } from "./capabilities.ts";
import { planContract } from "./contract-cases.ts";
import type { ContractDriver } from "./contract-judge.ts";
import { DEVIATIONS, type Deviation, deviationsOf } from "./deviations.ts";
import { DriverPool } from "./driver-pool.ts";

/** A backend that is held against the reference semantics. */
export interface ContractSubject {
  /** Its name. */
  readonly backend: string;
  readonly capabilities: Capabilities;
  /** Called before the first scenario, once for each driver. */
  open(): Promise<ContractDriver>;
  /** How many drivers share the scenarios, at the same time. Default: 1. */
  readonly concurrency?: number;
  /** Default: all. */
  readonly scenarios?: readonly Scenario[];
  /** Default: the declared ones. */
  readonly deviations?: readonly Deviation[];
}

/**
 * The whole contract test of a backend:
 *
 *     const open = () => openNamespaces({ backend: "nftables" });
 *     runBackendContract({ backend: "nftables", capabilities, open });
 *
 * Registers one test for each scenario and for each deviation that is declared for the backend.
 */
export function runBackendContract(subject: ContractSubject): void {
  const { backend, capabilities, scenarios = SCENARIOS } = subject;
  const deviations = deviationsOf(backend, subject.deviations ?? DEVIATIONS);
  const title = `${backend}: ${scenarios.length} scenarios, ${deviations.length} declared deviations`;
  const concurrency = subject.concurrency ?? 1;
  describe(title, { concurrent: concurrency > 1 }, () => {
    const drivers = new DriverPool();
    beforeAll(async () => {
      const opening = Array.from({ length: concurrency }, () => subject.open());
      for (const driver of await Promise.all(opening)) drivers.add(driver);
    }, OPENING_MS);
    afterAll(() => drivers.close());

    for (const { name, state, run } of planContract({
      backend,
      capabilities,
      scenarios,
      deviations,
    })) {
      test(name, { timeout: CASE_MS }, async () => {
        const problem = await drivers.use(state, run);
        expect(problem).toBeUndefined();
      });
    }
  });
}

const OPENING_MS = 60_000;
/** Most of it is waiting for a driver. */
const CASE_MS = 120_000;
