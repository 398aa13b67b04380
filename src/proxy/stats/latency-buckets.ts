/** Upper bounds double from a sixteenth of a millisecond to 16 s; one more bucket takes the rest. */
const FIRST_BOUND_MS = 1 / 16;
const BOUNDS = 19;

export const LATENCY_BUCKETS: number = BOUNDS + 1;

/** Upper bounds of all buckets, the last one without end. */
export const LATENCY_BOUNDS_MS: readonly number[] = [
  ...Array.from({ length: BOUNDS }, (_, index) => FIRST_BOUND_MS * 2 ** index),
  Number.POSITIVE_INFINITY,
];

export function latencyBucket(latencyMs: number): number {
  if (latencyMs <= FIRST_BOUND_MS) return 0;
  return Math.min(BOUNDS, Math.ceil(Math.log2(latencyMs / FIRST_BOUND_MS)));
}

/** Times in buckets. */
export interface LatencyHistogram {
  /** As `LATENCY_BOUNDS_MS`. */
  readonly boundsMs: readonly number[];
  /** How many were in each bucket; not in those below it. */
  readonly counts: readonly number[];
  /** Of all of them. */
  readonly sumMs: number;
}
