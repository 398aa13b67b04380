import { POLICY_OPTIONS } from "../../core/route/policy-options.ts";
import type { SetName } from "../../core/view/ops.ts";

/** What it needs to know beyond services and endpoints. */
export const IPTABLES_SETS: readonly SetName[] = [
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
  iptablesMode: {
    kind: "enum",
    values: ["auto", "nft", "legacy"],
    default: "auto",
    help: "which iptables: auto takes the one that kubelet or most rules are in",
  },
  iptablesMasqueradeBit: {
    kind: "number",
    min: 0,
    max: 31,
    default: 14,
    help: "the bit of a packet's mark that means masquerade",
  },
  iptablesSyncPeriod: {
    kind: "duration",
    default: "30s",
    help: "how often the kernel's rules are looked at, and repaired where they were altered; 1s or more",
  },
  iptablesMinSyncPeriod: {
    kind: "duration",
    default: "1s",
    help: "at least so long between two changes of rules; what changes meanwhile is told together",
  },
  takeOver: {
    kind: "boolean",
    help: "take the place of what runs here: the listening sockets of the instance in the state folder, or the chains of a kube-proxy",
  },
} as const;

/** Names and defaults are kube-proxy's where it has them. */
export const IPTABLES_OPTIONS: typeof POLICY_OPTIONS & typeof OWN_OPTIONS = {
  ...POLICY_OPTIONS,
  ...OWN_OPTIONS,
};
