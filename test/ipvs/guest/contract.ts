import { readFileSync } from "node:fs";
import { runBackendContract } from "../../../src/backends/backend.contract.ts";
import { deviationsOf } from "../../../src/backends/deviations.ts";
import { IPVS } from "../../../src/backends/ipvs/definition.ts";
import type { Scenario } from "../../../src/core/route/scenarios/scenario.ts";
import { SCENARIOS } from "../../../src/core/route/scenarios.ts";
import { openNamespaces } from "../../netns/namespace-driver.ts";
import type { NamespaceNetwork } from "../../netns/namespace-network.ts";

/** All of them take minutes in this kernel. */
const isWhole = process.env["PORTOLAN_IPVS_SCENARIOS"] === "all";

runBackendContract({
  backend: IPVS.name,
  capabilities: IPVS.capabilities,
  scenarios: isWhole ? SCENARIOS : representatives(SCENARIOS),
  open: () =>
    openNamespaces({
      backend: IPVS.name,
      options: { iptablesMode: "legacy" },
      hasForgotten: hasNoConnections,
    }),
});

/** The kernel removes connections to what was deleted a moment later. */
function hasNoConnections(network: NamespaceNetwork): boolean {
  const listed = network.inside("node-a", () =>
    readFileSync("/proc/thread-self/net/ip_vs_conn", "utf8"),
  );
  const [, ...connections] = listed.trim().split("\n");
  return connections.length === 0;
}

/** So few that each value of each axis, and each deviation, is in one of them. */
function representatives(scenarios: readonly Scenario[]): readonly Scenario[] {
  const seen = new Set<string>();
  return scenarios.filter(({ name }) => {
    const deviating = deviationsOf(IPVS.name).filter((one) => one.scenarios.test(name));
    const values = [...name.split("/"), ...deviating.map(({ id }) => id)];
    const fresh = values.filter((value) => !seen.has(value));
    for (const one of fresh) seen.add(one);
    return fresh.length > 0;
  });
}
