/**
 * The data planes of the kernel. They serve the same addresses: whichever meets a packet first would win, so
 * there is one of them in a network namespace.
 */
export const KERNEL_PLANES = ["nftables", "iptables", "ipvs"] as const;

export type KernelPlane = (typeof KERNEL_PLANES)[number];
