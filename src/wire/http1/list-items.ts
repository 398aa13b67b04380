import { BLANK, COMMA, isOf } from "./characters.ts";

export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The items of a comma-separated value, without the white space around them and without empty ones. */
export function listItems(bytes: Uint8Array, start: number, end: number): readonly ByteRange[] {
  const items: ByteRange[] = [];
  let itemStart = start;
  for (let at = start; at <= end; at++) {
    if (at < end && bytes[at] !== COMMA) continue;
    const item = trim(bytes, itemStart, at);
    if (item.start < item.end) items.push(item);
    itemStart = at + 1;
  }
  return items;
}

function trim(bytes: Uint8Array, from: number, to: number): ByteRange {
  let [start, end] = [from, to];
  while (start < end && isOf(bytes[start], BLANK)) start += 1;
  while (end > start && isOf(bytes[end - 1], BLANK)) end -= 1;
  return { start, end };
}
