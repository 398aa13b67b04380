import type { SelectorEventLoop } from "./selector-event-loop.ts";
import { Timer } from "./timer-queue.ts";

/**
 * Fires once when nothing has happened for a time. Activity only writes a number; the one timer is
 * armed again when it fires too early.
 */
export class IdleTimer {
  readonly #loop: SelectorEventLoop;
  readonly #timer: Timer;
  readonly #onIdle: () => void;
  readonly #timeoutMs: number;
  #lastMs: number;

  /** Starts at once. */
  constructor(loop: SelectorEventLoop, timeoutMs: number, onIdle: () => void) {
    this.#loop = loop;
    this.#timeoutMs = timeoutMs;
    this.#onIdle = onIdle;
    this.#lastMs = loop.nowMs;
    this.#timer = new Timer(() => this.#check());
    loop.arm(this.#timer, timeoutMs);
  }

  /** Something happened. */
  touch(): void {
    this.#lastMs = this.#loop.nowMs;
  }

  stop(): void {
    this.#loop.disarm(this.#timer);
  }

  #check(): void {
    const leftMs = this.#leftMs();
    if (leftMs > 0) this.#loop.arm(this.#timer, leftMs);
    else this.#onIdle();
  }

  #leftMs(): number {
    return this.#lastMs + this.#timeoutMs - this.#loop.nowMs;
  }
}
