export interface FloodLimits {
  /** Streams that were begun and given up, at once; and how many more each second. */
  readonly resetBurst: number;
  readonly resetsPerSecond: number;
  /** Frames that move nothing (PING, SETTINGS, empty DATA), at once; and how many more each second. */
  readonly idleFrameBurst: number;
  readonly idleFramesPerSecond: number;
}

const MS_PER_SECOND = 1000;

/**
 * Notices a peer that makes work and does none: streams that are opened and reset at once (CVE-2023-44487),
 * also where it has them reset by breaking a rule; and frames without end that cost an answer each.
 */
export class FloodGuard {
  readonly #resets: Allowance;
  readonly #idleFrames: Allowance;

  constructor(limits: FloodLimits, nowMs: () => number) {
    this.#resets = new Allowance(limits.resetBurst, limits.resetsPerSecond, nowMs);
    this.#idleFrames = new Allowance(limits.idleFrameBurst, limits.idleFramesPerSecond, nowMs);
  }

  /** False where it was one too many. */
  allowsReset(): boolean {
    return this.#resets.take();
  }

  allowsIdleFrame(): boolean {
    return this.#idleFrames.take();
  }

  /** Something was moved: those who move much may ask much, too. */
  noteUse(): void {
    this.#idleFrames.give();
  }
}

/** So many at once, and then so many a second. */
class Allowance {
  readonly #burst: number;
  readonly #perMs: number;
  readonly #nowMs: () => number;
  #left: number;
  #atMs: number | undefined;

  constructor(burst: number, perSecond: number, nowMs: () => number) {
    this.#burst = burst;
    this.#perMs = perSecond / MS_PER_SECOND;
    this.#nowMs = nowMs;
    this.#left = burst;
  }

  take(): boolean {
    const nowMs = this.#nowMs();
    const grownMs = nowMs - (this.#atMs ?? nowMs);
    this.#atMs = nowMs;
    this.#left = Math.min(this.#burst, this.#left + grownMs * this.#perMs);
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  give(): void {
    if (this.#left < this.#burst) this.#left += 1;
  }
}
