/** Of what is left one gets no more than this: the last of many still get something. */
const SHARE = 8;

/**
 * What the streams of one tunnel may hold beyond their first windows, all together. Who asks gets a share of what is
 * left, so a few can not take all of it.
 */
export class WindowPool {
  readonly #maxBytes: number;
  #takenBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get takenBytes(): number {
    return this.#takenBytes;
  }

  /** There is so little left that those who have much should give some back. */
  get isScarce(): boolean {
    return this.#maxBytes - this.#takenBytes < this.#maxBytes / SHARE;
  }

  /** @returns how much of it one gets */
  take(wantedBytes: number): number {
    const left = Math.floor((this.#maxBytes - this.#takenBytes) / SHARE);
    const taken = Math.max(0, Math.min(wantedBytes, left));
    this.#takenBytes += taken;
    return taken;
  }

  giveBack(byteCount: number): void {
    this.#takenBytes -= byteCount;
  }
}
