import { affinityScenarios } from "./scenarios/affinity-scenarios.ts";
import { edgeScenarios } from "./scenarios/edge-scenarios.ts";
import { endpointScenarios } from "./scenarios/endpoint-scenarios.ts";
import { listenerScenarios } from "./scenarios/listener-scenarios.ts";
import { operatorScenarios } from "./scenarios/operator-scenarios.ts";
import { productScenarios } from "./scenarios/product.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { sourceRangeScenarios } from "./scenarios/source-range-scenarios.ts";

/**
 * What has to become of packets, as a table: the product of what kube-proxy distinguishes, and what
 * Portolan adds to it. The verdicts are written by hand or by the rule in `scenarios/expect.ts`, so
 * that the reference semantics and every backend can be held against them.
 */
export const SCENARIOS: readonly Scenario[] = [
  ...productScenarios(),
  ...affinityScenarios(),
  ...sourceRangeScenarios(),
  ...operatorScenarios(),
  ...endpointScenarios(),
  ...edgeScenarios(),
  ...listenerScenarios(),
];
