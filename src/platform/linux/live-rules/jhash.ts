/** Bob Jenkins' lookup3 as the kernel has it (linux/jhash.h), over bytes. */
export function jhash(bytes: Uint8Array, seed: number): number {
  const start = (0xdeadbeef + bytes.length + seed) >>> 0;
  let state: Words = [start, start, start];
  let at = 0;
  for (; bytes.length - at > BLOCK_BYTES; at += BLOCK_BYTES)
    state = mix(addBlock(state, bytes, at));
  return at === bytes.length ? state[2] : final(addBlock(state, bytes, at));
}

const BLOCK_BYTES = 12;

type Words = readonly [number, number, number];

/** Bytes beyond the end count as zero. */
function addBlock([a, b, c]: Words, bytes: Uint8Array, at: number): Words {
  return [
    (a + wordAt(bytes, at)) >>> 0,
    (b + wordAt(bytes, at + 4)) >>> 0,
    (c + wordAt(bytes, at + 8)) >>> 0,
  ];
}

function wordAt(bytes: Uint8Array, at: number): number {
  const byte = (index: number): number => bytes[at + index] ?? 0;
  return (byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24)) >>> 0;
}

function rotate(word: number, by: number): number {
  return ((word << by) | (word >>> (32 - by))) >>> 0;
}

function mix([first, second, third]: Words): Words {
  let [a, b, c] = [first, second, third];
  a = ((a - c) ^ rotate(c, 4)) >>> 0;
  c = (c + b) >>> 0;
  b = ((b - a) ^ rotate(a, 6)) >>> 0;
  a = (a + c) >>> 0;
  c = ((c - b) ^ rotate(b, 8)) >>> 0;
  b = (b + a) >>> 0;
  a = ((a - c) ^ rotate(c, 16)) >>> 0;
  c = (c + b) >>> 0;
  b = ((b - a) ^ rotate(a, 19)) >>> 0;
  a = (a + c) >>> 0;
  c = ((c - b) ^ rotate(b, 4)) >>> 0;
  b = (b + a) >>> 0;
  return [a, b, c];
}

function final([first, second, third]: Words): number {
  let [a, b, c] = [first, second, third];
  c = ((c ^ b) - rotate(b, 14)) >>> 0;
  a = ((a ^ c) - rotate(c, 11)) >>> 0;
  b = ((b ^ a) - rotate(a, 25)) >>> 0;
  c = ((c ^ b) - rotate(b, 16)) >>> 0;
  a = ((a ^ c) - rotate(c, 4)) >>> 0;
  b = ((b ^ a) - rotate(a, 14)) >>> 0;
  return ((c ^ b) - rotate(b, 24)) >>> 0;
}
