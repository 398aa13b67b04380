/** One at a time, in the order in which they came; one that fails holds nobody up. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#last.then(act);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Settles when all that were taken so far are over. */
  async over(): Promise<void> {
    await this.#last;
  }
}
