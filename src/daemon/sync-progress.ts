import { CoreError } from "../core/errors.ts";

interface SinkProgress {
  /** All up to it was tried. */
  readonly revision: number;
  /** Undefined where it is so. */
  readonly error: unknown;
}

/** How far each stream has brought the state, for those who wait until a change is true. */
export class SyncProgress {
  readonly #sinks = new Map<string, SinkProgress>();
  readonly #waiters = new Set<() => void>();
  readonly #hurried = new Set<() => void>();

  constructor(names: Iterable<string>) {
    for (const name of names) this.#sinks.set(name, { revision: 0, error: undefined });
  }

  applied(name: string, revision: number): void {
    this.#note(name, { revision, error: undefined });
  }

  failed(name: string, revision: number, error: unknown): void {
    this.#note(name, { revision, error });
  }

  /** What went wrong last, by sink; those where all is well are not there. */
  failures(): ReadonlyMap<string, unknown> {
    const failed = [...this.#sinks].filter(([, { error }]) => error !== undefined);
    return new Map(failed.map(([name, { error }]) => [name, error]));
  }

  /**
   * Settles when all sinks have tried that revision; nobody waits for the end of a back-off meanwhile.
   * @throws CoreError ERR_ABORTED when the signal ends the wait
   */
  async tried(revision: number, signal: AbortSignal): Promise<void> {
    while (![...this.#sinks.values()].every((sink) => sink.revision >= revision)) {
      for (const hurry of [...this.#hurried]) hurry();
      await this.#next(this.#waiters, signal);
    }
  }

  /** Settles when somebody waits; rejects where the signal ends it. */
  hurried(signal: AbortSignal): Promise<void> {
    return this.#next(this.#hurried, signal);
  }

  #note(name: string, progress: SinkProgress): void {
    this.#sinks.set(name, progress);
    for (const wake of [...this.#waiters]) wake();
  }

  #next(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (act: () => void) => (): void => {
        waiting.delete(wake);
        signal.removeEventListener("abort", abort);
        act();
      };
      const wake = end(resolve);
      const abort = end(() => {
        reject(new CoreError("ERR_ABORTED", "the wait was ended", { cause: signal.reason }));
      });
      if (signal.aborted) return abort();
      waiting.add(wake);
      signal.addEventListener("abort", abort, { once: true });
    });
  }
}
