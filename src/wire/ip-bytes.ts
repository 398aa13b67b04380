/** Addresses as the bytes that packets carry. Texts are canonical, as `canonicalIp` spells them. */

export const V4_BYTES = 4;
export const V6_BYTES = 16;
const GROUPS = 8;
const SHORTEST_GAP = 2;
const ZERO = 0x30;
const GROUP = /^[0-9a-fA-F]{1,4}$/;

/**
 * Writes an address and returns how many bytes it took; 0 where the text is no address, and then what
 * was written means nothing. `out` has room for 16 bytes.
 */
export function writeIp(ip: string, out: Uint8Array, at: number): number {
  if (!ip.includes(":")) return writeV4(ip, out, at) ? V4_BYTES : 0;
  const gap = ip.indexOf("::");
  if (gap < 0) return writeGroups(ip, out, at) === V6_BYTES ? V6_BYTES : 0;
  const head = ip.slice(0, gap);
  const tail = ip.slice(gap + 2);
  const headBytes = head === "" ? 0 : writeGroups(head, out, at);
  const tailBytes = tail === "" ? 0 : writeGroups(tail, out, at + headBytes);
  if (headBytes < 0 || tailBytes < 0 || headBytes + tailBytes >= V6_BYTES) return 0;
  out.copyWithin(at + V6_BYTES - tailBytes, at + headBytes, at + headBytes + tailBytes);
  out.fill(0, at + headBytes, at + V6_BYTES - tailBytes);
  return V6_BYTES;
}

/** The text of an address of 4 or 16 bytes. */
export function readIp(bytes: Uint8Array, at: number, length: 4 | 16): string {
  if (length === V4_BYTES) {
    return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
  }
  const groups: string[] = [];
  for (let index = 0; index < GROUPS; index++) {
    const high = bytes[at + 2 * index] ?? 0;
    const low = bytes[at + 2 * index + 1] ?? 0;
    groups.push(((high << 8) | low).toString(16));
  }
  const { start, size } = longestGap(groups);
  if (size < SHORTEST_GAP) return groups.join(":");
  return `${groups.slice(0, start).join(":")}::${groups.slice(start + size).join(":")}`;
}

/** The first of the longest runs of zeros. */
function longestGap(groups: readonly string[]): { start: number; size: number } {
  let best = { start: 0, size: 0 };
  let size = 0;
  groups.forEach((group, index) => {
    size = group === "0" ? size + 1 : 0;
    if (size > best.size) best = { start: index - size + 1, size };
  });
  return best;
}

function writeV4(text: string, out: Uint8Array, at: number): boolean {
  const { length } = text;
  let start = 0;
  for (let part = 0; part < V4_BYTES; part++) {
    const dot = part === V4_BYTES - 1 ? length : text.indexOf(".", start);
    const value = readDecimalByte(text, start, dot);
    if (value < 0) return false;
    out[at + part] = value;
    start = dot + 1;
  }
  return true;
}

/** -1 where it is no number from 0 to 255. */
function readDecimalByte(text: string, start: number, end: number): number {
  if (end <= start || end - start > 3) return -1;
  let value = 0;
  for (let index = start; index < end; index++) {
    const digit = text.charCodeAt(index) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value > 0xff ? -1 : value;
}

/** Groups of an IPv6 address, of which the last may be written as IPv4. -1 where they are none. */
function writeGroups(text: string, out: Uint8Array, at: number): number {
  let written = 0;
  for (const group of text.split(":")) {
    if (written >= V6_BYTES) return -1;
    if (group.includes(".")) {
      const isLast = text.endsWith(group) && written + V4_BYTES <= V6_BYTES;
      return isLast && writeV4(group, out, at + written) ? written + V4_BYTES : -1;
    }
    if (!GROUP.test(group)) return -1;
    const value = Number.parseInt(group, 16);
    out[at + written] = value >> 8;
    out[at + written + 1] = value & 0xff;
    written += 2;
  }
  return written;
}
