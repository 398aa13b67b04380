import {
  DIRECT_OPTIONS,
  FAST_OPTIONS,
  IPTABLES_MODE_OPTION,
  KERNEL_OPTIONS,
} from "../kernel-options.ts";

const OWN_OPTIONS = {
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
} as const;

/** Names and defaults are kube-proxy's where it has them. */
export const IPTABLES_OPTIONS: typeof KERNEL_OPTIONS &
  typeof DIRECT_OPTIONS &
  typeof FAST_OPTIONS &
  typeof IPTABLES_MODE_OPTION &
  typeof OWN_OPTIONS = {
  ...KERNEL_OPTIONS,
  ...DIRECT_OPTIONS,
  ...FAST_OPTIONS,
  ...IPTABLES_MODE_OPTION,
  ...OWN_OPTIONS,
};
