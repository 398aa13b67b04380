/** As `nft` names them. */
export type TableFamily = "inet" | "ip" | "ip6" | "arp" | "netdev" | "bridge";

const FAMILIES: readonly (readonly [number, TableFamily])[] = [
  [1, "inet"],
  [2, "ip"],
  [3, "arp"],
  [5, "netdev"],
  [7, "bridge"],
  [10, "ip6"],
];

/** By NFPROTO_ of linux/netfilter.h. */
export const TABLE_FAMILIES: ReadonlyMap<number, TableFamily> = new Map(FAMILIES);

export const TABLE_FAMILY_NUMBERS: ReadonlyMap<TableFamily, number> = new Map(
  FAMILIES.map(([number, family]) => [family, number]),
);

/** In place of one. */
export const ALL_TABLE_FAMILIES = 0;
