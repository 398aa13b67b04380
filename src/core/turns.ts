/** One at a time, in the order in which they came; one that fails holds nobody up. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #lastQuick: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #long = 0;

  /** Whether nobody has a turn or waits for one. */
  get isIdle(): boolean {
    return this.#waiting === 0;
  }

  /** @param isLong takes its time: who only looks does not wait for it */
  take<T>(
    act: () => Promise<T>,
    { isLong = false }: { readonly isLong?: boolean } = {},
  ): Promise<T> {
    this.#waiting += 1;
    if (isLong) this.#long += 1;
    const result = this.#last.then(act).finally(() => {
      this.#waiting -= 1;
      if (isLong) this.#long -= 1;
    });
    this.#last = result.catch(() => undefined);
    if (this.#long === 0) this.#lastQuick = this.#last;
    return result;
  }

  /** Waits for the turns that were taken before, but neither for a long one nor for those behind it. */
  look<T>(act: () => T | Promise<T>): Promise<T> {
    return this.#lastQuick.then(act);
  }

  /** Settles when all that were taken so far are over. */
  async over(): Promise<void> {
    await this.#last;
  }
}
