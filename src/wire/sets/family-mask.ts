import type { Family } from "../../core/model/address.ts";
import { EMPTY } from "../../core/model/common.ts";

const V4 = 1;
const V6 = 2;

const BY_MASK: readonly (readonly Family[])[] = [
  EMPTY,
  Object.freeze<Family[]>(["v4"]),
  Object.freeze<Family[]>(["v6"]),
  Object.freeze<Family[]>(["v4", "v6"]),
];

/** Families as bits: 1 for IPv4, 2 for IPv6. */
export function maskOf(families: readonly Family[]): number {
  let mask = 0;
  for (const family of families) mask |= family === "v4" ? V4 : V6;
  return mask;
}

/** The families of the lowest two bits; equal masks give the same array. */
export function familiesOf(mask: number): readonly Family[] {
  return BY_MASK[mask & (V4 | V6)] ?? EMPTY;
}

/** How a node uses an endpoint's port, in four bits: `clusterFor`, then `localFor`. */
export function portUseOf(clusterFor: readonly Family[], localFor: readonly Family[]): number {
  return maskOf(clusterFor) | (maskOf(localFor) << 2);
}
