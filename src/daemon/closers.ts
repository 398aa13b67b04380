import type { Log } from "../core/log.ts";

type Close = () => Promise<void>;

/** What has to be closed at the end, last opened first. One that fails does not keep the others open. */
export class Closers {
  readonly #log: Log;
  readonly #open: { readonly what: string; readonly close: Close }[] = [];
  #closing: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  add(what: string, close: Close): void {
    this.#open.push({ what, close });
  }

  /** May be called more than once; everyone waits for the same end. */
  closeAll(): Promise<void> {
    this.#closing ??= this.#closeEach();
    return this.#closing;
  }

  async #closeEach(): Promise<void> {
    for (let last = this.#open.pop(); last !== undefined; last = this.#open.pop()) {
      try {
        await last.close();
      } catch (err) {
        this.#log.warn({ err, what: last.what }, "could not be closed cleanly");
      }
    }
  }
}
