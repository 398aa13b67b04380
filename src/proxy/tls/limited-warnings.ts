import type { Log } from "../../core/log.ts";

const EVERY_MS = 10_000;

/** Warns of what may come very often: once in ten seconds, with how many there were. */
export class LimitedWarnings {
  readonly #log: Log;
  readonly #nowMs: () => number;
  #nextMs = 0;
  #unsaid = 0;

  constructor(log: Log, nowMs: () => number) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  warn(fields: Readonly<Record<string, unknown>>, message: string): void {
    const now = this.#nowMs();
    if (now < this.#nextMs) {
      this.#unsaid += 1;
      return;
    }
    const more = this.#unsaid === 0 ? {} : { andMore: this.#unsaid };
    this.#log.warn({ ...fields, ...more }, message);
    this.#nextMs = now + EVERY_MS;
    this.#unsaid = 0;
  }
}
