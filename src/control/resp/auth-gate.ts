import { setTimeout as delay } from "node:timers/promises";
import type { Password } from "../password.ts";

export interface AuthGateOptions {
  readonly authDelayMs: number;
  readonly maxAuthDelayMs: number;
}

export type AuthOutcome = "right" | "wrong" | "too-many";

interface Attempts {
  /** Wrong ones in a row. */
  failures: number;
  /** Those that wait to be looked at. */
  waiting: number;
}

/** More of one address at a time are refused without a look at them. */
const MAX_WAITING = 8;
/** Addresses that are remembered; beyond, the oldest that nobody waits for is forgotten. */
const MAX_ADDRESSES = 1024;

/**
 * Makes guessing slow. Whoever gave a wrong password waits before the next one of the same address is
 * looked at, right or wrong, on whichever connection: not to wait for the answer gains nothing.
 */
export class AuthGate {
  readonly #password: Password;
  readonly #options: AuthGateOptions;
  readonly #attempts = new Map<string, Attempts>();

  constructor(password: Password, options: AuthGateOptions) {
    this.#password = password;
    this.#options = options;
  }

  /** @param address of the client, without its port */
  async try(address: string, given: string): Promise<AuthOutcome> {
    const attempts = this.#attempts.get(address) ?? { failures: 0, waiting: 0 };
    if (attempts.waiting >= MAX_WAITING) return "too-many";
    this.#remember(address, attempts);
    attempts.waiting += 1;
    // Not for its own sake: a program that waits for this only may end.
    await delay(this.#delayAfter(attempts.failures), undefined, { ref: false });
    attempts.waiting -= 1;
    const isRight = this.#password.isRight(given);
    attempts.failures = isRight ? 0 : attempts.failures + 1;
    if (isRight && attempts.waiting === 0) this.#attempts.delete(address);
    return isRight ? "right" : "wrong";
  }

  #delayAfter(failures: number): number {
    const { authDelayMs, maxAuthDelayMs } = this.#options;
    return failures === 0 ? 0 : Math.min(authDelayMs * 2 ** (failures - 1), maxAuthDelayMs);
  }

  #remember(address: string, attempts: Attempts): void {
    this.#attempts.delete(address);
    this.#attempts.set(address, attempts);
    if (this.#attempts.size <= MAX_ADDRESSES) return;
    for (const [known, { waiting }] of this.#attempts) {
      if (waiting > 0) continue;
      this.#attempts.delete(known);
      return;
    }
  }
}
