/** All keys that begin with the prefix: from `key` up to `end`. */
export interface KeyRange {
  readonly key: Buffer;
  readonly end: Buffer;
}

/** @param prefix not empty, and not of bytes 0xff alone */
export function prefixRange(prefix: string): KeyRange {
  const key = Buffer.from(prefix);
  const end = Buffer.from(key);
  let last = end.length - 1;
  while (end[last] === 0xff) last -= 1;
  end[last] = (end[last] ?? 0) + 1;
  return { key, end: end.subarray(0, last + 1) };
}

const LEAST = Buffer.from([0]);

/** The first key that can come after this one. */
export function keyAfter(key: Buffer): Buffer {
  return Buffer.concat([key, LEAST]);
}
