export interface NewestKeeperOptions {
  /** Writes down what there is now. Never rejects. */
  readonly write: () => Promise<void>;
  /** Between the end of one writing and the next; may end early, and must when the signal comes. */
  readonly pause?: (signal: AbortSignal) => Promise<void>;
}

/** Has the newest of something that changes written down: at once, and what changes meanwhile all at once after it. */
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

  /** Settles when the last change is written down; pauses end. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { write, pause } = this.#options;
    while (this.#isBehind) {
      this.#isBehind = false;
      await write();
      await pause?.(this.#end.signal).catch(() => undefined);
    }
    // In the same step as the look above: a change in between would be nobody's.
    this.#running = undefined;
  }
}
