export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
}

export const DEFAULT_BACKOFF: BackoffOptions = { firstMs: 250, maxMs: 30_000 };

/** Half of the wait is left to chance, so that many nodes do not come back at the same moment. */
const JITTER = 0.5;

/**
 * How long to wait after so many failures in a row: doubling, limited, with jitter.
 * @param failures at least 1
 * @param random from 0 (included) to 1
 */
export function backoffMs(options: BackoffOptions, failures: number, random: number): number {
  const fullMs = Math.min(options.maxMs, options.firstMs * 2 ** (failures - 1));
  return Math.round(fullMs * (1 - JITTER * random));
}
