import type { Log } from "../../core/log.ts";
import { Turns } from "../../core/turns.ts";

/** Reads a number that each transaction of anyone raises by one. */
export type ReadGeneration = () => Promise<number>;

/**
 * Knows, without reading rules, whether anyone else changed some since they were last found right:
 * where the kernel counts transactions, and only ours were made. Without that count it never knows.
 */
export class ChangeWatch {
  readonly #read: ReadGeneration | undefined;
  readonly #log: Log;
  readonly #turns = new Turns();
  /** The generation that is there if nobody else changed anything. */
  #expected: number | undefined;

  constructor(read: ReadGeneration | undefined, log: Log) {
    this.#read = read;
    this.#log = log;
  }

  async isUntouched(): Promise<boolean> {
    return this.#expected !== undefined && (await this.#count()) === this.#expected;
  }

  /** From here on all rules are read and put right. */
  async begin(): Promise<void> {
    this.#expected = await this.#count();
  }

  /**
   * Makes transactions of ours; what others make meanwhile is noticed. One at a time: the tools would
   * wait for each other, and only for so long, or begin anew.
   * @param transactions how many these were, asked for when they are made
   */
  ours(transactions: () => number, make: () => Promise<void>): Promise<void> {
    return this.#turns.take(() => this.#make(transactions, make));
  }

  async #make(transactions: () => number, make: () => Promise<void>): Promise<void> {
    const before = this.#expected;
    this.#expected = undefined;
    await make();
    if (before === undefined) return;
    const expected = before + transactions();
    if ((await this.#count()) === expected) this.#expected = expected;
  }

  /** The count only spares work: without it, rules are read and compared. */
  async #count(): Promise<number | undefined> {
    try {
      return await this.#read?.();
    } catch (error) {
      this.#log.warn(
        { backend: "iptables", err: error },
        "the kernel's count of transactions could not be read: all rules are compared",
      );
      return undefined;
    }
  }
}
