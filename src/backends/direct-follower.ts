import type { Log } from "../core/log.ts";
import type { Turns } from "../core/turns.ts";
import type { DirectKeeper, DirectLookup } from "./direct-keeper.ts";

export interface DirectFollowerParts {
  readonly direct: Pick<
    DirectKeeper,
    "retreat" | "advance" | "isLate" | "withdraw" | "forgetObstacle"
  >;
  /** In which the rules are written, and all of these methods are called. */
  readonly turns: Turns;
  readonly log: Log;
  readonly backend: string;
}

/** Keeps direct connections behind the rules: nothing is led past rules that are not in the kernel. */
export class DirectFollower {
  readonly #parts: DirectFollowerParts;
  /** Whether the kernel has all rules that it should have. */
  #isWritten = false;

  constructor(parts: DirectFollowerParts) {
    this.#parts = parts;
  }

  /** The rules of these are about to be written. */
  onChange(changed: Iterable<string>, lookup: DirectLookup): void {
    this.#isWritten = false;
    this.#parts.direct.retreat(changed, lookup);
  }

  /** All rules are in the kernel. Where they are very many, nobody waits for what follows. */
  async onWritten(): Promise<void> {
    this.#isWritten = true;
    if (this.#parts.direct.isLate) this.#leadLater();
    else await this.#lead();
  }

  /** The kernel was looked at, and has all rules, if there are any. */
  async onRepaired(hasRules: boolean): Promise<void> {
    this.#isWritten = hasRules;
    this.#parts.direct.forgetObstacle();
    await this.#lead();
  }

  /** The rules are about to be removed. */
  onRemoval(): void {
    this.#isWritten = false;
    this.#parts.direct.withdraw();
  }

  async #lead(): Promise<void> {
    if (this.#isWritten) await this.#parts.direct.advance();
  }

  #leadLater(): void {
    const { turns, log, backend } = this.#parts;
    turns
      .take(() => this.#lead())
      .catch((error: unknown) => {
        log.error({ backend, err: error }, "connections could not be led to endpoints at once");
      });
  }
}
