const MAX_RTO_MS = 60_000;
const FIRST_RTO_MS = 200;
const SMOOTHING = 1 / 8;
const VARIATION = 1 / 4;
/** The least of so long, or of the time before: it forgets a path that is no more. */
const MINIMUM_AGE_MS = 10_000;

/** How long the way there and back takes (RFC 6298), and the least that it took of late. */
export class RttEstimator {
  readonly #minRtoMs: number;
  readonly #intervalMs: number;
  smoothedMs = 0;
  #variationMs = 0;
  #latestMinMs = Number.POSITIVE_INFINITY;
  #earlierMinMs = Number.POSITIVE_INFINITY;
  #sinceMs = 0;

  constructor(limits: { readonly minRtoMs: number; readonly intervalMs: number }) {
    this.#minRtoMs = limits.minRtoMs;
    this.#intervalMs = limits.intervalMs;
  }

  get hasSample(): boolean {
    return this.smoothedMs > 0;
  }

  /** Infinite before the first sample. */
  get minMs(): number {
    return Math.min(this.#latestMinMs, this.#earlierMinMs);
  }

  /** After so long without an answer, something is lost. */
  get rtoMs(): number {
    if (!this.hasSample) return Math.max(FIRST_RTO_MS, this.#minRtoMs);
    const rtoMs = this.smoothedMs + Math.max(2 * this.#intervalMs, 4 * this.#variationMs);
    return Math.min(MAX_RTO_MS, Math.max(this.#minRtoMs, rtoMs));
  }

  sample(rttMs: number, nowMs: number): void {
    const ms = Math.max(rttMs, 0.01);
    if (!this.hasSample) {
      this.smoothedMs = ms;
      this.#variationMs = ms / 2;
    } else {
      this.#variationMs += VARIATION * (Math.abs(ms - this.smoothedMs) - this.#variationMs);
      this.smoothedMs += SMOOTHING * (ms - this.smoothedMs);
    }
    if (nowMs - this.#sinceMs > MINIMUM_AGE_MS) {
      this.#sinceMs = nowMs;
      this.#earlierMinMs = this.#latestMinMs;
      this.#latestMinMs = ms;
    } else if (ms < this.#latestMinMs) this.#latestMinMs = ms;
  }
}
