/** Which services are known, and who waits for some that are not yet. */
export class KnownServices {
  #names: ReadonlySet<string> = new Set();
  readonly #waiting = new Set<() => void>();

  /** All that are known from now on. */
  set(names: Iterable<string>): void {
    this.#names = new Set(names);
    for (const look of this.#waiting) look();
  }

  /**
   * Waits until all of them are known, at most until `signal` is aborted.
   * @returns those that are not
   */
  ensure(services: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    return new Promise((resolve) => {
      const look = (): void => {
        const missing = services.filter((service) => !this.#names.has(service));
        if (missing.length > 0 && !signal.aborted) return;
        this.#waiting.delete(look);
        signal.removeEventListener("abort", look);
        resolve(missing);
      };
      this.#waiting.add(look);
      signal.addEventListener("abort", look);
      look();
    });
  }
}
