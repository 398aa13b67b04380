import type { Clock } from "../fd.ts";
import { Timer, TimerQueue } from "../timer-queue.ts";

/** Time that passes only when it is told to: the same run gives the same order of events. */
export class VirtualClock implements Clock {
  readonly #queue = new TimerQueue();
  #nowMs = 0;

  nowMs(): number {
    return this.#nowMs;
  }

  callAt(atMs: number, callback: () => void): { cancel(): void } {
    const timer = new Timer(callback);
    this.#queue.arm(timer, Math.max(atMs, this.#nowMs));
    return { cancel: () => this.#queue.cancel(timer) };
  }

  /** Lets time pass, and what is due in it happen. */
  advance(byMs: number): void {
    const endMs = this.#nowMs + byMs;
    while (this.#step(endMs));
    this.#nowMs = endMs;
  }

  /** Lets time pass until `isDone`; false where the limit came first or nothing was left to happen. */
  runUntil(isDone: () => boolean, limitMs: number): boolean {
    const endMs = this.#nowMs + limitMs;
    while (!isDone()) if (!this.#step(endMs)) return isDone();
    return true;
  }

  #step(endMs: number): boolean {
    const atMs = this.#queue.nextAtMs;
    if (atMs === undefined || atMs > endMs) return false;
    this.#nowMs = atMs;
    this.#queue.takeDue(atMs)?.task();
    return true;
  }
}
