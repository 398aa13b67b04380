/** What a node forwards by the rules in a second from which on the path may be worth its programs. */
const BUSY_PACKETS = 1000;
/** Below this, in a second, the path is not. */
const FEW_PACKETS = 100;
/** Seconds one after the other in which few take the path. */
const IDLE_LOOKS = 10;
/** Seconds until it is tried again where much is forwarded, but little of that takes the path. */
const LOOKS_APART = 300;

/** Counted since some time. */
export interface PacketCounts {
  readonly byRules: number;
  readonly byPath: number;
}

/**
 * Whether a node forwards so much that programs at its links are worth what they cost: each packet that comes by
 * these links pays for them, also those of the node itself. It is to be looked once a second.
 */
export class FastDemand {
  #isThere = false;
  #last: PacketCounts | undefined;
  #idleLooks = 0;
  #looksToWait = 0;

  get isThere(): boolean {
    return this.#isThere;
  }

  /** Seconds until it is looked for again, where much is forwarded of which little took the path. */
  get secondsToWait(): number {
    return this.#looksToWait;
  }

  look(counts: PacketCounts): void {
    const { byRules, byPath } = this.#last ?? counts;
    this.#last = counts;
    const isBusy = counts.byRules - byRules >= BUSY_PACKETS;
    if (this.#isThere) this.#lookAtPath(counts.byPath - byPath, isBusy);
    else if (this.#looksToWait > 0) this.#looksToWait -= 1;
    else this.#isThere = isBusy;
  }

  #lookAtPath(passed: number, isBusy: boolean): void {
    this.#idleLooks = passed < FEW_PACKETS ? this.#idleLooks + 1 : 0;
    if (this.#idleLooks < IDLE_LOOKS) return;
    this.#isThere = false;
    this.#idleLooks = 0;
    this.#looksToWait = isBusy ? LOOKS_APART : 0;
  }
}
