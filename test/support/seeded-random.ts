/** Numbers from 0 to 1, the same for every run with the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** As many bytes as wanted, the same for every run with the same seed. */
export function seededBytes(seed: number, count: number): Buffer {
  const random = seededRandom(seed);
  return Buffer.from(Array.from({ length: count }, () => Math.floor(random() * 256)));
}
