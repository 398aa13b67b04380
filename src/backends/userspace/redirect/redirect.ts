import type { Log } from "../../../core/log.ts";
import type { RedirectLock } from "./redirect-lock.ts";
import type { RedirectRules } from "./redirect-rules.ts";
import type { RedirectElements } from "./redirect-table.ts";

/** What somebody who wants one says. */
export interface OpenRedirectOptions {
  readonly log: Log;
  /** Goes on where another instance redirects, whose place this one takes. */
  readonly takesOver: boolean;
}

export interface RedirectOptions {
  readonly rules: Pick<RedirectRules, "apply" | "check" | "remove">;
  /** Only who holds it takes the rules away. */
  readonly lock: Pick<RedirectLock, "isHeld" | "release">;
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

  /** No call is led any more, unless by another instance whose place was to be taken; succeeds where none is. */
  remove(): Promise<void> {
    const { rules, lock } = this.#options;
    return this.#inTurn(async () => {
      if (!this.#isLeft && lock.isHeld()) await rules.remove();
    });
  }

  /** Leaves it as it is, to whoever comes after: from now on nothing is changed here. */
  async leave(): Promise<void> {
    this.#watch.stop();
    this.#isLeft = true;
    await this.#inTurn(async () => this.#options.lock.release());
  }

  /** Removes it for good. Twice is once. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#watch.stop();
    const { lock, release } = this.#options;
    await this.remove().finally(() => {
      lock.release();
      release();
    });
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
