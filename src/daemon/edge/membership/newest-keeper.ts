export interface NewestKeeperOptions {
  /** Writes down what there is now. Never rejects. */
  readonly write: () => Promise<void>;
  /** Rejects when the signal comes. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Between the end of one writing and the next. */
  readonly pauseMs: number;
}

/** Has the newest of something that changes written down: at once, and while it goes on changing after a pause each time. */
export class NewestKeeper {
  readonly #options: NewestKeeperOptions;
  readonly #end = new AbortController();
  #isBehind = false;
  #running: Promise<void> | undefined;

  constructor(options: NewestKeeperOptions) {
    this.#options = options;
  }

  changed(): void {
    this.#isBehind = true;
    this.#running ??= this.#run();
  }

  /** Settles when the last change is written down. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { write, sleep, pauseMs } = this.#options;
    while (this.#isBehind) {
      this.#isBehind = false;
      await write();
      await sleep(pauseMs, this.#end.signal).catch(() => undefined);
    }
    // In the same step as the look above: a change in between would be nobody's.
    this.#running = undefined;
  }
}
