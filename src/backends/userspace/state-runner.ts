import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";

export interface StateRunnerOptions<S> {
  readonly apply: (state: S) => Promise<void>;
  /** The last one was applied again. */
  readonly onAgain: () => void;
  readonly log: Log;
}

/** What could not be done again is tried once more after so long. */
const RETRY_MS = 5000;

/** Applies states one at a time, and the last one again when something beside it has changed. */
export class StateRunner<S> {
  readonly #options: StateRunnerOptions<S>;
  #last: { readonly state: S } | undefined;
  #work: Promise<unknown> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;

  constructor(options: StateRunnerOptions<S>) {
    this.#options = options;
  }

  run(state: S): Promise<void> {
    return this.#inTurn(async () => {
      this.#last = { state };
      await this.#options.apply(state);
    });
  }

  /** Failures are logged, and it is tried again: nobody waits for it. */
  again(): void {
    clearTimeout(this.#retry);
    const done = this.#inTurn(async () => {
      if (this.#last === undefined) return;
      await this.#options.apply(this.#last.state);
      this.#options.onAgain();
    });
    done.catch((error: unknown) => {
      const message = messageOf(error);
      this.#options.log.error({ waitMs: RETRY_MS }, `a change could not be applied: ${message}`);
      this.#retry = setTimeout(() => this.again(), RETRY_MS).unref();
    });
  }

  close(): void {
    clearTimeout(this.#retry);
    this.#last = undefined;
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#work.then(task);
    this.#work = done.catch(() => undefined);
    return done;
  }
}
