import { FAMILIES } from "../core/model/address.ts";
import { PROTOCOLS } from "../core/model/common.ts";
import { POLICY_OPTIONS } from "../core/route/policy-options.ts";
import type { AddressType } from "../core/route/verdict.ts";
import type { SetName } from "../core/view/ops.ts";
import type { Capabilities } from "./capabilities.ts";

/** What a backend in the kernel needs to know beyond services and endpoints. */
export const KERNEL_SETS: readonly SetName[] = ["listeners", "groups", "nodes", "security-groups"];

/** What all of them can do; balancing methods differ. */
export const KERNEL_CAPABILITIES: Omit<Capabilities, "methods"> = {
  addressTypes: ["cluster-ip", "external-ip", "load-balancer-ip", "node-port", "listen-address"],
  protocols: PROTOCOLS,
  families: FAMILIES,
  affinity: "with-timeout",
  sourceRanges: true,
  internalLocal: true,
  externalLocal: true,
  weights: true,
  requestHints: false,
  keepsSource: true,
};

/** The types of addresses whose tracked flows follow the rules. */
export const TRACKED_TYPES: ReadonlySet<AddressType> = new Set<AddressType>([
  "cluster-ip",
  "external-ip",
  "load-balancer-ip",
  "node-port",
]);

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

/** Of those whose rules this node's own connections need not meet packet by packet. */
export const DIRECT_OPTIONS = {
  directConnect: {
    kind: "enum",
    values: ["auto", "off", "on"],
    default: "auto",
    help: "whether this node's own processes are led to endpoints at connect(2), by eBPF; auto: where this machine can, on: refused where it can not",
  },
  directConnectCgroup: {
    kind: "string",
    placeholder: "PATH",
    help: "whose processes --direct-connect is for: a folder of the cgroups of version 2; where none is given, all that are mounted here",
  },
  directConnectWorkloads: {
    kind: "string",
    placeholder: "PATH",
    help: "workloads that --direct-connect is for, too: a folder of the cgroups of version 2 with processes of this cluster in network namespaces of their own, such as kubelet's kubepods.slice; where none is given, workloads go by the rules",
  },
} as const;

/** Of those whose rules packets that are forwarded need not meet again and again. */
export const FAST_OPTIONS = {
  fastPath: {
    kind: "enum",
    values: ["auto", "off", "on"],
    default: "auto",
    help: "whether TCP packets that are forwarded pass without the rules for a second once these have decided, by eBPF; auto: where this machine can, much is forwarded and rules of nobody else would miss packets, on: always, refused where it can not",
  },
} as const;

/** Of those that write rules by iptables. */
export const IPTABLES_MODE_OPTION = {
  iptablesMode: {
    kind: "enum",
    values: ["auto", "nft", "legacy"],
    default: "auto",
    help: "which iptables: auto takes the one that kubelet or most rules are in",
  },
} as const;
