import type { InstanceLock } from "../../../platform/linux/instance-lock.ts";

export interface RedirectLockOptions {
  /** Throws where another instance holds it. */
  readonly take: () => InstanceLock;
  /** This one takes the place of the one that holds it, and goes on until that one lets go. */
  readonly canWait: boolean;
  /** Calls back again and again, until it is told to stop. */
  readonly every: (work: () => void) => { stop(): void };
}

/** Whose the redirect of a network namespace is: of one instance at a time. */
export class RedirectLock {
  readonly #take: () => InstanceLock;
  #retry: { stop(): void } | undefined;
  #held: InstanceLock | undefined;
  #isReleased = false;

  /** @throws CoreError ERR_NOT_POSSIBLE_HERE with the pid of the one that holds it, where it can not wait */
  constructor({ take, canWait, every }: RedirectLockOptions) {
    this.#take = take;
    if (!canWait) this.#held = take();
    else if (!this.isHeld()) this.#retry = every(() => void this.isHeld());
  }

  /** Asks again where it was another's. */
  isHeld(): boolean {
    if (this.#held !== undefined) return true;
    if (this.#isReleased) return false;
    try {
      this.#held = this.#take();
    } catch {
      // Whatever it is, the next time it may be over.
      return false;
    }
    this.#retry?.stop();
    return true;
  }

  /** For good: it is not taken again. */
  release(): void {
    this.#isReleased = true;
    this.#retry?.stop();
    this.#held?.release();
    this.#held = undefined;
  }
}
