import { describe } from "vitest";
import { runBackendContract } from "../../src/backends/backend.contract.ts";
import { DEVIATIONS } from "../../src/backends/deviations.ts";
import { REDIRECT_CAPABILITIES, USERSPACE } from "../../src/backends/userspace/definition.ts";
import type { Scenario } from "../../src/core/route/scenarios/scenario.ts";
import { TOPOLOGY } from "../../src/core/route/scenarios/topology.ts";
import { SCENARIOS } from "../../src/core/route/scenarios.ts";
import { requires } from "../support/requires.ts";
import { openNamespaces } from "./namespace-driver.ts";

const { externalIP, loadBalancerIP } = TOPOLOGY;

const COMMON = {
  backend: USERSPACE.name,
  catches: ["TCP", "SCTP"],
  // A proxy takes its time.
  settleMs: 400,
} as const;
const OPTIONS = { loops: 1, drainTimeout: "1s" };

/** On addresses of the machine a closed UDP port looks the same whoever closed it. */
function isPlayable({ packet, expected }: Scenario): boolean {
  return packet.protocol !== "UDP" || expected.kind !== "not-ours";
}

describe("in network namespaces", requires("linux", "root", "ip"), () => {
  runBackendContract({
    backend: USERSPACE.name,
    capabilities: USERSPACE.capabilities,
    concurrency: 4,
    scenarios: SCENARIOS.filter(isPlayable),
    open: () =>
      openNamespaces({
        ...COMMON,
        options: OPTIONS,
        // It serves only what its machine has.
        assigned: [externalIP.v4, externalIP.v6, loadBalancerIP.v4, loadBalancerIP.v6],
      }),
  });
});

describe("in network namespaces with --redirect", requires("linux", "root", "ip", "nft"), () => {
  runBackendContract({
    backend: USERSPACE.name,
    capabilities: REDIRECT_CAPABILITIES,
    deviations: DEVIATIONS.filter(({ unless }) => unless !== "--redirect"),
    concurrency: 4,
    scenarios: SCENARIOS.filter(isPlayable),
    open: () => openNamespaces({ ...COMMON, options: { ...OPTIONS, redirect: true } }),
  });
});
