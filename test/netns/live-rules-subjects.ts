import { describe } from "vitest";
import { IPTABLES } from "../../src/backends/iptables/definition.ts";
import { NFTABLES } from "../../src/backends/nftables/definition.ts";
import { DEFAULT_ROUTE_POLICY, type RoutePolicy } from "../../src/core/route/route-policy.ts";
import { TOPOLOGY } from "../../src/core/route/scenarios/topology.ts";
import { IPTABLES_MODES } from "../../src/platform/linux/iptables/iptables-tool.ts";
import { requires } from "../support/requires.ts";
import { LARGE_CLUSTER } from "./large-cluster.ts";
import { runLiveRulesProperty } from "./live-rules.property.ts";

const { clusterCidrs } = TOPOLOGY;

const POLICIES: Readonly<Record<string, RoutePolicy>> = {
  "without local detection": DEFAULT_ROUTE_POLICY,
  "by the cluster's networks": {
    ...DEFAULT_ROUTE_POLICY,
    localDetection: { mode: "cluster-cidr", cidrs: [clusterCidrs.v4, clusterCidrs.v6] },
  },
};

/** All that program rules, with what an operator may set. */
export function describeLiveRules(numRuns: number): void {
  for (const [name, policy] of Object.entries(POLICIES)) {
    describe(`nftables, ${name}`, requires("linux", "root", "ip", "nft", "iptables"), () => {
      const { name: backend, capabilities } = NFTABLES;
      runLiveRulesProperty({ backend, capabilities, policy, numRuns });
    });

    for (const mode of IPTABLES_MODES) {
      const subject = {
        backend: IPTABLES.name,
        capabilities: IPTABLES.capabilities,
        options: { iptablesMode: mode, iptablesMinSyncPeriod: "0s" },
        policy,
        numRuns,
      };
      describe(`iptables-${mode}, ${name}`, requires("linux", "root", "ip", "iptables"), () => {
        runLiveRulesProperty(subject);
      });
      describe(
        `iptables-${mode} in a large cluster, ${name}`,
        requires("linux", "root", "ip", "iptables"),
        () => {
          runLiveRulesProperty({ ...subject, first: LARGE_CLUSTER });
        },
      );
    }
  }
}
