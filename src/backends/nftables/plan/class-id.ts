const HALF_BITS = 16;
const HALF_MASK = 0xffff;
const HEX = 16;

/** A number above 0 as nft lists it where it is a `classid`: `1a2b:3c4d`. */
export function classId(number: number): string {
  return `${(number >>> HALF_BITS).toString(HEX)}:${(number & HALF_MASK).toString(HEX)}`;
}

/** Undefined where the text is none. */
export function parseClassId(text: string): number | undefined {
  const [, high, low] = /^([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(text) ?? [];
  if (high === undefined || low === undefined) return undefined;
  return Number.parseInt(high, HEX) * (HALF_MASK + 1) + Number.parseInt(low, HEX);
}
