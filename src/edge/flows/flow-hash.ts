/** Where the directions of flows are looked for: who chooses ports and addresses shall not choose that with them. */

/**
 * Of an address. All of one of IPv6 counts, mixed with what nobody knows: whoever may send from a whole network could
 * otherwise send from addresses that all fall together.
 */
export function addressHash(
  seed: number,
  isV6: boolean,
  w0: number,
  w1: number,
  w2: number,
  w3: number,
): number {
  if (!isV6) return seed ^ w3;
  let hash = Math.imul(seed ^ w0, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15) ^ w1, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13) ^ w2, 0xc2b2ae35);
  return hash ^ (hash >>> 16) ^ w3;
}

/** Of both ends; `source` and `destination` are of `addressHash`. */
export function flowHash(
  source: number,
  destination: number,
  ports: number,
  protocol: number,
): number {
  let hash = Math.imul(source, 0x9e3779b1) ^ Math.imul(destination, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) ^ Math.imul(ports ^ protocol, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 13), 0x297a2d39);
  return hash ^ (hash >>> 16);
}
