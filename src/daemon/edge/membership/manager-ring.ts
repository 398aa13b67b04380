import {
  formatListenAddress,
  type ListenAddress,
  parseListenAddress,
} from "../../../core/options/listen-address.ts";

/** Longer lists are of managers that have long gone. */
const MAX_MANAGERS = 16;

/**
 * The managers of an edge, of which a node asks one at a time: the one that answered last, for as long as it does.
 * Those that managers told of once stay known, as one that is down may be the only one that is up later.
 */
export class ManagerRing {
  readonly #random: () => number;
  readonly #given: readonly string[];
  /** The latest told stand first. */
  #told: readonly string[] = [];
  readonly #addresses = new Map<string, ListenAddress>();
  #failed = new Set<string>();
  #current: ListenAddress;

  /**
   * @param given what people said; always known, and the first one is asked first
   * @param told what managers said in an earlier life
   * @param random from 0 to 1: which of several is asked next, so that not all nodes come to the same one
   */
  constructor(
    given: readonly [ListenAddress, ...ListenAddress[]],
    told: readonly string[],
    random: () => number,
  ) {
    this.#random = random;
    this.#given = given.map(formatListenAddress);
    [this.#current] = given;
    this.#addresses.set(formatListenAddress(this.#current), this.#current);
    this.learn(told);
  }

  get current(): ListenAddress {
    return this.#current;
  }

  get all(): readonly ListenAddress[] {
    return [...this.#addresses.values()];
  }

  get size(): number {
    return this.#addresses.size;
  }

  /** What managers said, to be kept. */
  get told(): readonly string[] {
    return this.#told;
  }

  /** @returns whether there is news in it */
  learn(told: readonly string[]): boolean {
    const before = this.#told.join();
    const good = told.filter((text) => parseListenAddress(text)?.kind === "tcp");
    this.#told = [...new Set([...good, ...this.#told])].slice(0, MAX_MANAGERS);
    this.#remember([...this.#given, ...this.#told]);
    return this.#told.join() !== before;
  }

  /** It does not answer: another one is asked from now on, where nobody has moved on already. */
  failed(address: ListenAddress): void {
    this.#failed.add(formatListenAddress(address));
    if (address !== this.#current) return;
    const isLeft = ([name]: readonly [string, ListenAddress]): boolean => !this.#failed.has(name);
    let left = [...this.#addresses].filter(isLeft);
    if (left.length === 0) {
      this.#failed = new Set(this.size > 1 ? [formatListenAddress(address)] : []);
      left = [...this.#addresses].filter(isLeft);
    }
    const [, next] = left[Math.floor(this.#random() * left.length)] ?? [];
    if (next !== undefined) this.#current = next;
  }

  answered(): void {
    this.#failed.clear();
  }

  #remember(names: readonly string[]): void {
    const wanted = new Set([formatListenAddress(this.#current), ...names]);
    for (const name of this.#addresses.keys()) if (!wanted.has(name)) this.#addresses.delete(name);
    for (const name of wanted) {
      const address = parseListenAddress(name);
      // One that is known keeps its identity: that is how it is told whether somebody has moved on.
      if (address !== undefined && !this.#addresses.has(name)) this.#addresses.set(name, address);
    }
  }
}
