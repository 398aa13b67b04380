/** Keyed BLAKE2s (RFC 7693). Node's hashes have no key: this one is for a few short messages only. */

const IV = Uint32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
);
/** RFC 7693, 2.7: the order of the words of a block in each round. */
const SIGMA: readonly string[] = [
  "0123456789abcdef",
  "ea489fd61c02b753",
  "b8c052fdae367194",
  "7931dcbe265a40f8",
  "905724afe1bc683d",
  "2c6a0b834d75fe19",
  "c51fed4a0763928b",
  "db7ec13950f4862a",
  "6fe9b308c2d714a5",
  "a2847615fb9e3cd0",
];
const ORDERS: readonly (readonly number[])[] = SIGMA.map((row) =>
  [...row].map((digit) => Number.parseInt(digit, 16)),
);
/** The words that each of the eight steps of a round mixes. */
const STEPS: readonly (readonly [number, number, number, number])[] = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
];
const BLOCK_BYTES = 64;
const WORDS = 16;

export function blake2sMac(key: Uint8Array, message: Uint8Array, byteCount: number): Buffer {
  const keyed = Buffer.alloc(key.length === 0 ? 0 : BLOCK_BYTES);
  keyed.set(key);
  const input = Buffer.concat([keyed, message]);
  const state = Uint32Array.from(IV);
  state[0] = at(state, 0) ^ 0x0101_0000 ^ (key.length << 8) ^ byteCount;
  const blocks = Math.max(1, Math.ceil(input.length / BLOCK_BYTES));
  const padded = Buffer.concat([input, Buffer.alloc(blocks * BLOCK_BYTES - input.length)]);
  for (let block = 0; block < blocks; block += 1) {
    const isLast = block === blocks - 1;
    const done = isLast ? input.length : (block + 1) * BLOCK_BYTES;
    compress(state, padded.subarray(block * BLOCK_BYTES), done, isLast);
  }
  const out = Buffer.alloc(state.length * 4);
  for (const [index, word] of state.entries()) out.writeUInt32LE(word, index * 4);
  return out.subarray(0, byteCount);
}

function compress(state: Uint32Array, block: Buffer, done: number, isLast: boolean): void {
  const m = Uint32Array.from({ length: WORDS }, (_, index) => block.readUInt32LE(index * 4));
  const v = Uint32Array.from([...state, ...IV]);
  v[12] = at(v, 12) ^ done;
  if (isLast) v[14] = ~at(v, 14);
  for (const order of ORDERS) {
    for (const [step, words] of STEPS.entries()) {
      mix(v, words, at(m, order[step * 2] ?? 0), at(m, order[step * 2 + 1] ?? 0));
    }
  }
  for (const index of state.keys()) {
    state[index] = at(state, index) ^ at(v, index) ^ at(v, index + 8);
  }
}

function mix(
  v: Uint32Array,
  [a, b, c, d]: readonly [number, number, number, number],
  x: number,
  y: number,
): void {
  v[a] = at(v, a) + at(v, b) + x;
  v[d] = rotate(at(v, d) ^ at(v, a), 16);
  v[c] = at(v, c) + at(v, d);
  v[b] = rotate(at(v, b) ^ at(v, c), 12);
  v[a] = at(v, a) + at(v, b) + y;
  v[d] = rotate(at(v, d) ^ at(v, a), 8);
  v[c] = at(v, c) + at(v, d);
  v[b] = rotate(at(v, b) ^ at(v, c), 7);
}

function at(words: Uint32Array, index: number): number {
  return words[index] ?? 0;
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
