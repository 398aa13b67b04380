import { readFileSync } from "node:fs";
import { runBackendContract } from "../../../src/backends/backend.contract.ts";
import { IPVS } from "../../../src/backends/ipvs/definition.ts";
import { SCENARIOS } from "../../../src/core/route/scenarios.ts";
import { openNamespaces } from "../../netns/namespace-driver.ts";
import type { NamespaceNetwork } from "../../netns/namespace-network.ts";
import { representatives } from "../../support/representatives.ts";

/** All of them take minutes in this kernel. */
const isWhole = process.env["PORTOLAN_IPVS_SCENARIOS"] === "all";

runBackendContract({
  backend: IPVS.name,
  capabilities: IPVS.capabilities,
  scenarios: isWhole ? SCENARIOS : representatives(SCENARIOS, IPVS.name),
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
