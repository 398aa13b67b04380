import type { RoutePolicy } from "../../src/core/route/route-policy.ts";
import type { RawOptions } from "./backend-messages.ts";

/** What an operator sets, as the options of backends; each takes those that it has. */
export function policyOptions(policy: RoutePolicy): RawOptions {
  const { nodePortAddresses, masqueradeAll, localDetection } = policy;
  return {
    nodeportAddresses:
      typeof nodePortAddresses === "string" ? nodePortAddresses : nodePortAddresses.join(","),
    ...(masqueradeAll && { masqueradeAll }),
    detectLocalMode: localDetection.mode,
    ...(localDetection.mode === "cluster-cidr" && { clusterCidr: localDetection.cidrs.join(",") }),
  };
}
