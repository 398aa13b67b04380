/** What keeps processors awake; see `AwakeProcessors`. */
export interface Wakefulness {
  hold(): void;
  release(): void;
}

/** Keeps processors awake while packets come, and for a time after the last one. */
export class AwakeWhileBusy {
  readonly #wakefulness: Wakefulness;
  readonly #lingerMs: number;
  readonly #onFailed: (error: unknown) => void;
  #packets = 0;
  #lastMs: number = Number.NEGATIVE_INFINITY;
  #isPossible = true;

  /**
   * @param lingerMs for so long after a packet; 0: never
   * @param onFailed told once where it is not possible; it is not tried again
   */
  constructor(wakefulness: Wakefulness, lingerMs: number, onFailed: (error: unknown) => void) {
    this.#wakefulness = wakefulness;
    this.#lingerMs = lingerMs;
    this.#onFailed = onFailed;
  }

  /** @param packets how many came so far; now and then */
  note(packets: number, nowMs: number): void {
    if (packets !== this.#packets) this.#lastMs = nowMs;
    this.#packets = packets;
    if (nowMs - this.#lastMs >= this.#lingerMs) this.#wakefulness.release();
    else this.#hold();
  }

  close(): void {
    this.#wakefulness.release();
  }

  #hold(): void {
    if (!this.#isPossible) return;
    try {
      this.#wakefulness.hold();
    } catch (error) {
      this.#isPossible = false;
      this.#onFailed(error);
    }
  }
}
