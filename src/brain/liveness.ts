/** Who has renewed lately. Time is passed in; any clock that never goes back will do. */
export class Liveness {
  readonly #timeoutMs: number;
  /** Those that renewed last stand last: the first one is the next to go. */
  readonly #until = new Map<string, number>();
  /** Those that have not renewed yet, in order as well. They are apart: each has longer than any that renewed. */
  readonly #graceUntil = new Map<string, number>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** @returns whether it was dead, or not known */
  renew(name: string, nowMs: number): boolean {
    const wasAlive = this.isAlive(name);
    this.forget(name);
    this.#until.set(name, nowMs + this.#timeoutMs);
    return !wasAlive;
  }

  /** It is here and has `graceMs`, the same for all, for its first renewal. @returns as `renew` does */
  begin(name: string, nowMs: number, graceMs: number): boolean {
    const wasAlive = this.isAlive(name);
    this.forget(name);
    this.#graceUntil.set(name, nowMs + graceMs);
    return !wasAlive;
  }

  isAlive(name: string): boolean {
    return this.#until.has(name) || this.#graceUntil.has(name);
  }

  /** It goes on purpose. */
  forget(name: string): void {
    this.#until.delete(name);
    this.#graceUntil.delete(name);
  }

  /** Those that are dead from now on. */
  expire(nowMs: number): readonly string[] {
    const dead = [this.#until, this.#graceUntil].flatMap((each) => expired(each, nowMs));
    for (const name of dead) this.forget(name);
    return dead;
  }

  /** When the next one is dead unless it renews; undefined where nobody is alive. */
  get nextMs(): number | undefined {
    const [first = Number.POSITIVE_INFINITY] = this.#until.values();
    const [firstOfGrace = Number.POSITIVE_INFINITY] = this.#graceUntil.values();
    const next = Math.min(first, firstOfGrace);
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }
}

function expired(until: ReadonlyMap<string, number>, nowMs: number): readonly string[] {
  const names: string[] = [];
  for (const [name, untilMs] of until) {
    if (untilMs > nowMs) break;
    names.push(name);
  }
  return names;
}
