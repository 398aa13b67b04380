/** After this long an observation counts for 1/e of a new one. */
const DEFAULT_DECAY_MS = 10_000;

/**
 * A moving average of latencies that follows a rise at once and a fall slowly: a server that has
 * become slow is noticed with the first answer. Without new observations it fades, so that a server
 * that was avoided is tried again.
 */
export class PeakEwma {
  readonly #decayMs: number;
  #latencyMs = 0;
  #observedAtMs = Number.NaN;

  constructor(decayMs: number = DEFAULT_DECAY_MS) {
    this.#decayMs = decayMs;
  }

  get isObserved(): boolean {
    return !Number.isNaN(this.#observedAtMs);
  }

  observe(latencyMs: number, nowMs: number): void {
    const before = this.valueMs(nowMs);
    if (latencyMs > before) {
      this.#latencyMs = latencyMs;
    } else {
      const kept = this.#keptShare(nowMs);
      this.#latencyMs = this.#latencyMs * kept + latencyMs * (1 - kept);
    }
    this.#observedAtMs = nowMs;
  }

  /** 0 where nothing was observed. */
  valueMs(nowMs: number): number {
    return this.isObserved ? this.#latencyMs * this.#keptShare(nowMs) : 0;
  }

  #keptShare(nowMs: number): number {
    return Math.exp(-Math.max(0, nowMs - this.#observedAtMs) / this.#decayMs);
  }
}
