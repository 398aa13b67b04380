import type { Log } from "../../../core/log.ts";
import type { RedirectRules } from "./redirect-rules.ts";
import type { RedirectElements } from "./redirect-table.ts";

export interface RedirectOptions {
  readonly rules: Pick<RedirectRules, "apply" | "check" | "remove">;
  /** Calls back again and again, until it is told to stop. */
  readonly every: (work: () => void) => { stop(): void };
  /** Lets go of what the rules were read and written with. */
  readonly release: () => void;
  readonly log: Log;
}

/** Has the kernel lead calls to the proxy, and looks after it; one thing at a time. */
export class Redirect {
  readonly #options: RedirectOptions;
  readonly #watch: { stop(): void };
  #work: Promise<unknown> = Promise.resolve();
  #isLeft = false;
  #isClosed = false;

  constructor(options: RedirectOptions) {
    this.#options = options;
    this.#watch = options.every(() => this.#check());
  }

  /** @throws CoreError ERR_PROGRAM_FAILED; then the next call does it again */
  apply(elements: RedirectElements): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#isLeft) await this.#options.rules.apply(elements);
    });
  }

  /** No call is led any more; succeeds where none is. */
  remove(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#isLeft) await this.#options.rules.remove();
    });
  }

  /** Leaves it as it is, to whoever comes after: from now on nothing is changed here. */
  leave(): void {
    this.#watch.stop();
    this.#isLeft = true;
  }

  /** Removes it for good. Twice is once. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#watch.stop();
    await this.remove().finally(() => this.#options.release());
  }

  #check(): void {
    const { rules, log } = this.#options;
    this.#inTurn(() => rules.check()).catch((error: unknown) => {
      log.error({ err: error }, "the redirect's rules could not be looked at");
    });
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#work.then(task);
    this.#work = done.catch(() => undefined);
    return done;
  }
}
