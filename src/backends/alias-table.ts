/** One slot of a table: below the threshold, of 2^32, the first index is meant, else the other. */
export interface AliasSlot {
  readonly threshold: number;
  readonly first: number;
  readonly other: number;
}

const WHOLE = 2 ** 32;

/**
 * A table by which two random numbers choose among shares that sum to 1, however many there are: one
 * takes a slot, all being alike, the other one of at most two that share it (the method of Walker and
 * Vose). Each share is met exactly, but for what 2^-32 of a slot is.
 */
export function aliasTable(shares: readonly number[]): readonly AliasSlot[] {
  const filled = shares.map((share) => share * shares.length);
  const others = shares.map((_, index) => index);
  const small: number[] = [];
  const large: number[] = [];
  for (const [index, fill] of filled.entries()) (fill < 1 ? small : large).push(index);
  for (let poor = small.pop(); poor !== undefined; poor = small.pop()) {
    const rich = large.pop();
    // Nobody is left to give only where sums of fractions are not quite 1.
    if (rich === undefined) break;
    others[poor] = rich;
    const left = (filled[rich] ?? 0) - (1 - (filled[poor] ?? 0));
    filled[rich] = left;
    (left < 1 ? small : large).push(rich);
  }
  return filled.map((fill, index) => ({
    threshold: Math.min(WHOLE - 1, Math.round(fill * WHOLE)),
    first: index,
    other: others[index] ?? index,
  }));
}
