import type { GlobalStore } from "../core/store/global-store.ts";

/**
 * Those who wait for the state to change, told one after the other in one go: a promise for each of a thousand
 * watchers takes longer than what it is that they are told.
 */
export class StoreWaiters {
  readonly #store: GlobalStore;
  #waiting = new Set<() => void>();
  #isListening = false;

  constructor(store: GlobalStore) {
    this.#store = store;
  }

  /** Calls `wake` once, after the next change; it must not throw. */
  add(wake: () => void): void {
    this.#waiting.add(wake);
    if (this.#isListening) return;
    this.#isListening = true;
    void this.#store.changed().then(() => this.#wakeAll());
  }

  remove(wake: () => void): void {
    this.#waiting.delete(wake);
  }

  #wakeAll(): void {
    const due = this.#waiting;
    this.#waiting = new Set();
    this.#isListening = false;
    for (const wake of due) wake();
  }
}
