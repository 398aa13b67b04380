import type { ProbeDirect } from "../../backends/preview-direct.ts";
import type { Surveyed } from "./survey.ts";

/** Whether connections are direct where nobody says which cgroup is meant. */
export async function surveyDirect(probe: ProbeDirect): Promise<Surveyed> {
  const obstacle = await probe({ node: undefined, workloads: undefined });
  return {
    name: "eBPF",
    summary: "this node's own connections, led to endpoints at once: nftables, iptables",
    findings: obstacle === undefined ? [] : [{ severity: "missing", ...obstacle }],
  };
}
