import type { Finding } from "../../backends/backend.ts";
import type { FastProspect, ProbeFast } from "../../backends/preview-fast.ts";
import type { Surveyed } from "./survey.ts";

/** Whether packets that are forwarded can do without the rules. */
export async function surveyFast(probe: ProbeFast): Promise<Surveyed> {
  return {
    name: "tcx",
    summary: "a fast path for what is forwarded, past the rules: nftables, iptables",
    findings: findingsOf(await probe()),
  };
}

function findingsOf(prospect: FastProspect): readonly Finding[] {
  if (prospect.kind !== "obstacle") return [];
  const { what, remedy } = prospect;
  return [{ severity: "missing", what, remedy }];
}
