import { messageOf } from "../core/errors.ts";
import { FastDemand } from "./fast-demand.ts";

export interface FastOccasionOptions {
  /** How many packets were forwarded by the rules so far. */
  readonly forwarded: () => number;
  /** Who would miss packets, in words; undefined where nobody would. */
  readonly findOnlooker: () => Promise<string | undefined>;
}

/** So many looks, of one a second, until others' rules are looked for again. */
const LOOKS_TO_ONLOOKERS = 30;

/**
 * When the path is open where it may be, but was not asked for: where much is forwarded, and nobody would miss
 * packets.
 */
export class FastOccasion {
  readonly #options: FastOccasionOptions;
  #demand = new FastDemand();
  #looks = 0;
  /** Why the path stays closed, however much is forwarded. */
  #obstacle: string | undefined;

  private constructor(options: FastOccasionOptions) {
    this.#options = options;
  }

  static async begin(options: FastOccasionOptions): Promise<FastOccasion> {
    const occasion = new FastOccasion(options);
    await occasion.#findOnlooker();
    return occasion;
  }

  get isThere(): boolean {
    return this.#demand.isThere;
  }

  get obstacle(): string | undefined {
    return this.#obstacle;
  }

  /** Why there is none, where nothing is in its way. */
  get pause(): string {
    return this.#demand.secondsToWait === 0
      ? "little is forwarded"
      : "what is forwarded could not take it, and is tried again every five minutes";
  }

  /** Once a second. @param byPath how many packets took the path so far */
  async look(byPath: number): Promise<void> {
    this.#looks = (this.#looks + 1) % LOOKS_TO_ONLOOKERS;
    const isDue = this.#looks === 0;
    if (this.#obstacle === undefined) {
      const wasThere = this.#demand.isThere;
      this.#demand.look({ byRules: this.#options.forwarded(), byPath });
      if (this.#demand.isThere && (isDue || !wasThere)) await this.#findOnlooker();
    } else if (isDue) {
      await this.#findOnlooker();
    }
  }

  async #findOnlooker(): Promise<void> {
    this.#obstacle = await obstacleBy(this.#options.findOnlooker);
    // What is forwarded meanwhile tells nothing of whether it would take the path.
    if (this.#obstacle !== undefined) this.#demand = new FastDemand();
  }
}

/** Why such a path stays closed however much is forwarded, with the remedy; undefined where it does not. */
export async function obstacleBy(
  findOnlooker: FastOccasionOptions["findOnlooker"],
): Promise<string | undefined> {
  try {
    const onlooker = await findOnlooker();
    if (onlooker === undefined) return undefined;
    return `packets would be missed by ${onlooker}; --fast-path on has them pass all the same`;
  } catch (error) {
    return `whether packets would be missed is not known: ${messageOf(error)}; --fast-path on has them pass all the same`;
  }
}
