import type { Server } from "./server.ts";

/** With how much of its weight a server begins. */
const FIRST_SHARE = 0.1;
const STEPS = 20;

/**
 * Lets the weight of servers that came up rise in steps from a tenth to the whole. Between two steps
 * it does nothing, so that it may be asked before every choice.
 */
export class SlowStart {
  #durationMs: number;
  readonly #upSinceMs = new Map<Server, number>();
  #nextStepMs = Number.POSITIVE_INFINITY;

  /** @param durationMs until it has its whole weight; 0: at once. */
  constructor(durationMs: number) {
    this.#durationMs = durationMs;
  }

  setDurationMs(durationMs: number): void {
    this.#durationMs = durationMs;
    this.#nextStepMs = this.#upSinceMs.size === 0 ? Number.POSITIVE_INFINITY : 0;
  }

  cameUp(server: Server, nowMs: number): void {
    if (this.#durationMs <= 0) return;
    this.#upSinceMs.set(server, nowMs);
    this.#nextStepMs = Math.min(this.#nextStepMs, nowMs + this.#stepMs());
  }

  wentDown(server: Server): void {
    this.#upSinceMs.delete(server);
  }

  /** The part of its weight that a server has by now. */
  shareOf(server: Server, nowMs: number): number {
    const since = this.#upSinceMs.get(server);
    if (since === undefined) return 1;
    return Math.min(1, Math.max(FIRST_SHARE, (nowMs - since) / this.#durationMs));
  }

  /** Whether shares have changed since it was last asked. */
  isStepDue(nowMs: number): boolean {
    return nowMs >= this.#nextStepMs;
  }

  /** The servers whose shares have changed; those that have reached their whole weight are let go. */
  step(nowMs: number): readonly Server[] {
    const changed = [...this.#upSinceMs.keys()];
    for (const [server, since] of this.#upSinceMs) {
      if (nowMs - since >= this.#durationMs) this.#upSinceMs.delete(server);
    }
    this.#nextStepMs =
      this.#upSinceMs.size === 0 ? Number.POSITIVE_INFINITY : nowMs + this.#stepMs();
    return changed;
  }

  #stepMs(): number {
    return this.#durationMs / STEPS;
  }
}
