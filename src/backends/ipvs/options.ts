import { IPTABLES_MODE_OPTION, KERNEL_OPTIONS } from "../kernel-options.ts";

const OWN_OPTIONS = {
  ipvsScheduler: {
    kind: "enum",
    values: ["rr", "wrr", "lc", "wlc", "sh", "mh", "sed", "nq"],
    default: "wrr",
    help: "how endpoints are chosen where neither an annotation nor a group says it; wrr is round-robin where weights are equal",
  },
  ipvsExcludeCidrs: {
    kind: "list",
    placeholder: "NETWORK",
    help: "virtual servers with such addresses are of others, and left alone",
  },
  ipvsStrictArp: {
    kind: "boolean",
    help: "no ARP answers for addresses of services: arp_ignore=1, arp_announce=2",
  },
  ipvsTcpTimeout: {
    kind: "duration",
    default: "0s",
    help: "how long an idle TCP connection is remembered; 0: as the kernel has it",
  },
  ipvsTcpfinTimeout: {
    kind: "duration",
    default: "0s",
    help: "how long a TCP connection is remembered after its end began; 0: as the kernel has it",
  },
  ipvsUdpTimeout: {
    kind: "duration",
    default: "0s",
    help: "how long a UDP flow is remembered; 0: as the kernel has it",
  },
  ipvsSyncPeriod: {
    kind: "duration",
    default: "30s",
    help: "how often the kernel is looked at, put right where others altered it, and endpoints whose connections ended are removed; 1s or more",
  },
  ipvsMinSyncPeriod: {
    kind: "duration",
    default: "0s",
    help: "at least so long between two changes; what changes meanwhile is told together",
  },
} as const;

/** Names are kube-proxy's where it has them. */
export const IPVS_OPTIONS: typeof KERNEL_OPTIONS &
  typeof IPTABLES_MODE_OPTION &
  typeof OWN_OPTIONS = {
  ...KERNEL_OPTIONS,
  ...IPTABLES_MODE_OPTION,
  ...OWN_OPTIONS,
};
