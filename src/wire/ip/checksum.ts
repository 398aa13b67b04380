/** The checksum of the Internet protocols (RFC 1071), and how it changes with what it covers (RFC 1624). */

/** Brings a sum of 16-bit words down to 16 bits. */
export function fold(sum: number): number {
  let folded = sum;
  while (folded > 0xffff) folded = (folded & 0xffff) + Math.floor(folded / 0x1_0000);
  return folded;
}

/** The sum of the words of some bytes, added to `initial`; not folded, exact below 2^53. */
export function sumOf(view: DataView, offset: number, byteCount: number, initial = 0): number {
  let sum = initial;
  const even = offset + (byteCount & ~1);
  for (let at = offset; at < even; at += 2) sum += view.getUint16(at);
  if ((byteCount & 1) !== 0) sum += view.getUint8(even) << 8;
  return sum;
}

/** What is written into a header that had 0 there. */
export function checksumOf(sum: number): number {
  return ~fold(sum) & 0xffff;
}

/** What one 32-bit word that is replaced by another adds to the sum. Not folded. */
export function wordDelta(before: number, after: number): number {
  return (~before >>> 16) + (~before & 0xffff) + (after >>> 16) + (after & 0xffff);
}

/** A checksum after what it covers has changed by `delta`. */
export function adjusted(checksum: number, delta: number): number {
  return ~fold((~checksum & 0xffff) + delta) & 0xffff;
}

/** The sum of the pseudo header (RFC 9293, 3.1; RFC 8200, 8.1). Not folded. */
export function pseudoHeaderSum(
  view: DataView,
  ip: { readonly addresses: number; readonly byteCount: number },
  protocol: number,
  l4Bytes: number,
): number {
  return sumOf(view, ip.addresses, ip.byteCount, protocol + l4Bytes);
}
