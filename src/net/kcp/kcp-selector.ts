import type { Clock, Selector } from "../fd.ts";
import { FIRST_SOCKET_SLOT, type KcpEngine } from "./kcp-engine.ts";

/** The events of another selector and those of streams in tunnels, as one. */
export class KcpSelector implements Selector {
  readonly blocks: boolean;
  readonly #base: Selector;
  readonly #engine: KcpEngine;
  readonly #clock: Clock;
  /** Which events of the base are the loop's. */
  readonly #kept: number[] = [];
  #onPending: () => void = () => undefined;
  #hostTimer: { cancel(): void } | undefined;
  #hostTimerAtMs = Number.POSITIVE_INFINITY;

  constructor(base: Selector, clock: Clock, engine: KcpEngine) {
    this.blocks = base.blocks;
    this.#base = base;
    this.#clock = clock;
    this.#engine = engine;
  }

  wait(timeoutMs: number): number {
    const engine = this.#engine;
    engine.flush();
    const count = this.#base.wait(this.#shorter(timeoutMs));
    this.#kept.length = 0;
    for (let index = 0; index < count; index += 1) {
      const slot = this.#base.slotAt(index);
      if (slot < FIRST_SOCKET_SLOT) this.#kept.push(index);
      else engine.socketReady(slot, this.#base.readyAt(index));
    }
    engine.work();
    if (!this.blocks) this.#scheduleHost();
    return this.#kept.length + engine.selector.wait();
  }

  slotAt(index: number): number {
    const own = index - this.#kept.length;
    return own < 0 ? this.#base.slotAt(this.#kept[index] ?? -1) : this.#engine.selector.slotAt(own);
  }

  generationAt(index: number): number {
    const own = index - this.#kept.length;
    return own < 0
      ? this.#base.generationAt(this.#kept[index] ?? -1)
      : this.#engine.selector.generationAt(own);
  }

  readyAt(index: number): number {
    const own = index - this.#kept.length;
    return own < 0
      ? this.#base.readyAt(this.#kept[index] ?? -1)
      : this.#engine.selector.readyAt(own);
  }

  onPending(callback: () => void): void {
    this.#onPending = callback;
    this.#base.onPending(callback);
    this.#engine.selector.onPending(callback);
    this.#engine.onWork(callback);
    this.#scheduleHost();
  }

  close(): void {
    this.#hostTimer?.cancel();
  }

  #shorter(timeoutMs: number): number {
    if (!this.blocks || this.#engine.selector.hasPending) return 0;
    const { nextAtMs } = this.#engine;
    if (nextAtMs === Number.POSITIVE_INFINITY) return timeoutMs;
    const leftMs = Math.max(0, Math.ceil(nextAtMs - this.#clock.nowMs()));
    return timeoutMs < 0 ? leftMs : Math.min(timeoutMs, leftMs);
  }

  /** Host-driven: nobody waits, so the clock calls. */
  #scheduleHost(): void {
    const { nextAtMs } = this.#engine;
    if (nextAtMs === this.#hostTimerAtMs) return;
    this.#hostTimer?.cancel();
    this.#hostTimerAtMs = nextAtMs;
    if (!Number.isFinite(nextAtMs)) return;
    this.#hostTimer = this.#clock.callAt(nextAtMs, () => {
      this.#hostTimerAtMs = Number.POSITIVE_INFINITY;
      this.#onPending();
    });
  }
}
