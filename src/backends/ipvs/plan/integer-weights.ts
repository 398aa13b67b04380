import type { Target } from "../../port-targets.ts";

/** More steps would let one endpoint have long runs of connections before the next has its turn. */
const MAX_WEIGHT = 1000;
/** Shares are sums of fractions: what differs by less is the same. */
const TOLERANCE = 1e-9;

/** Shares as the smallest whole numbers that stand to each other as they do; capped, and then rounded. */
export function integerWeights(targets: readonly Target[]): readonly number[] {
  const shares = targets.map(({ share }) => share);
  const smallest = Math.min(...shares);
  const largest = Math.max(...shares);
  for (let factor = 1; (factor * largest) / smallest <= MAX_WEIGHT; factor += 1) {
    const weights = shares.map((share) => (factor * share) / smallest);
    if (weights.every((weight) => Math.abs(weight - Math.round(weight)) < TOLERANCE * factor)) {
      return weights.map(Math.round);
    }
  }
  return shares.map((share) => Math.max(1, Math.round((share / largest) * MAX_WEIGHT)));
}
