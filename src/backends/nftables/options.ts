import { DIRECT_OPTIONS, FAST_OPTIONS, KERNEL_OPTIONS } from "../kernel-options.ts";

const OWN_OPTIONS = {
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

export const NFTABLES_OPTIONS: typeof KERNEL_OPTIONS &
  typeof DIRECT_OPTIONS &
  typeof FAST_OPTIONS &
  typeof OWN_OPTIONS = {
  ...KERNEL_OPTIONS,
  ...DIRECT_OPTIONS,
  ...FAST_OPTIONS,
  ...OWN_OPTIONS,
};
