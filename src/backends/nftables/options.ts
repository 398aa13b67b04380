import { POLICY_OPTIONS } from "../../core/route/policy-options.ts";
import type { SetName } from "../../core/view/ops.ts";

/** What it needs to know beyond services and endpoints. */
export const NFTABLES_SETS: readonly SetName[] = [
  "listeners",
  "groups",
  "nodes",
  "security-groups",
];

const OWN_OPTIONS = {
  podInterfaceNamePrefix: {
    kind: "string",
    placeholder: "PREFIXES",
    default: "veth",
    help: "with --detect-local-mode interface: how interfaces of workloads begin, separated by commas",
  },
  iptablesMasqueradeBit: {
    kind: "number",
    min: 0,
    max: 31,
    default: 14,
    help: "the bit of a packet's mark that means masquerade",
  },
  syncPeriod: {
    kind: "duration",
    default: "30s",
    help: "how often what others changed in the kernel is looked for, and put right; 1s or more",
  },
  minSyncPeriod: {
    kind: "duration",
    default: "0s",
    help: "the shortest time from one sync to the next; what changes in between is applied together",
  },
} as const;

export const NFTABLES_OPTIONS: typeof POLICY_OPTIONS & typeof OWN_OPTIONS = {
  ...POLICY_OPTIONS,
  ...OWN_OPTIONS,
};
