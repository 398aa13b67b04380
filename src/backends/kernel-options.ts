import { POLICY_OPTIONS } from "../core/route/policy-options.ts";
import type { SetName } from "../core/view/ops.ts";

/** What a backend in the kernel needs to know beyond services and endpoints. */
export const KERNEL_SETS: readonly SetName[] = ["listeners", "groups", "nodes", "security-groups"];

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
  takeOver: {
    kind: "boolean",
    help: "take the place of what runs here: the listening sockets of the instance in the state folder, or the chains of a kube-proxy",
  },
} as const;

/** What all backends in the kernel are told in the same words. */
export const KERNEL_OPTIONS: typeof POLICY_OPTIONS & typeof OWN_OPTIONS = {
  ...POLICY_OPTIONS,
  ...OWN_OPTIONS,
};
