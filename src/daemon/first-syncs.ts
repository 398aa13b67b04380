/** Follows who has applied the first state; what `--once` waits for. */
export class FirstSyncs {
  readonly #waiting: Set<string>;
  #resolve: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  /** Settles when all have applied it; rejects with the first failure. */
  readonly done: Promise<void>;

  constructor(names: Iterable<string>) {
    this.#waiting = new Set(names);
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Not everyone asks; a failure that nobody asks about was reported on the board.
    this.done.catch(() => undefined);
  }

  applied(name: string): void {
    this.#waiting.delete(name);
    if (this.#waiting.size === 0) this.#resolve();
  }

  failed(error: unknown): void {
    this.#reject(error);
  }
}
