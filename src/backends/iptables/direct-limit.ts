import type { DirectLimit } from "../direct-limit.ts";

/** Measured: from about there on it takes longer to find no rule among all than to find one and be translated. */
export const DIRECT_LIMIT: DirectLimit = {
  addresses: 1000,
  why: "iptables looks through the rules of all of them before it lets a direct connection go",
};
