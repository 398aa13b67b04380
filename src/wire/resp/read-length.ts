const MINUS = 0x2d;
const ZERO = 0x30;
const MAX_DIGITS = 10;

/** A whole number in decimal digits, perhaps with a minus; undefined where it is none. */
export function readLength(bytes: Uint8Array, start: number, end: number): number | undefined {
  const first = bytes[start] === MINUS ? start + 1 : start;
  if (end <= first || end - first > MAX_DIGITS) return undefined;
  let value = 0;
  for (let at = first; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return first === start ? value : -value;
}
