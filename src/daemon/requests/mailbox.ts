import { CoreError } from "../../core/errors.ts";

export interface MailboxOptions {
  /** More than so many that wait to be read end it. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** What one puts in and another reads in its own time; bounded. */
export class Mailbox<T> implements AsyncIterable<T> {
  readonly #options: MailboxOptions;
  #waiting: T[] = [];
  #isFull = false;
  #wake: () => void = () => undefined;

  constructor(options: MailboxOptions) {
    this.#options = options;
    options.signal.addEventListener("abort", () => this.#wake(), { once: true });
  }

  put(item: T): void {
    if (this.#isFull || this.#options.signal.aborted) return;
    this.#waiting.push(item);
    this.#isFull = this.#waiting.length > this.#options.limit;
    this.#wake();
  }

  /** Ends with the signal. @throws CoreError ERR_INSTANCE where the reader was too slow */
  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    const { signal, limit } = this.#options;
    while (!signal.aborted) {
      if (this.#isFull) {
        throw new CoreError("ERR_INSTANCE", `more than ${limit} items waited to be read`);
      }
      const items = this.#waiting;
      this.#waiting = [];
      if (items.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      yield* items;
    }
  }
}
