/** Who has renewed lately. Time is passed in; any clock that never goes back will do. */
export class Liveness {
  readonly #timeoutMs: number;
  readonly #until = new Map<string, number>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** @returns whether it was dead, or not known */
  renew(name: string, nowMs: number): boolean {
    const wasAlive = this.isAlive(name);
    // Those that renewed last stand last: the first one is the next to go.
    this.#until.delete(name);
    this.#until.set(name, nowMs + this.#timeoutMs);
    return !wasAlive;
  }

  isAlive(name: string): boolean {
    return this.#until.has(name);
  }

  /** It goes on purpose. */
  forget(name: string): void {
    this.#until.delete(name);
  }

  /** Those that are dead from now on. */
  expire(nowMs: number): readonly string[] {
    const dead: string[] = [];
    for (const [name, untilMs] of this.#until) {
      if (untilMs > nowMs) break;
      dead.push(name);
    }
    for (const name of dead) this.#until.delete(name);
    return dead;
  }

  /** When the next one is dead unless it renews; undefined where nobody is alive. */
  get nextMs(): number | undefined {
    const [first] = this.#until.values();
    return first;
  }
}
