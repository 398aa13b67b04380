/** So many between two looks, 250 ms apart, are more than come one by one: a program that takes them together is quicker. */
export const FLOOD_PACKETS = 10_000;
const SHORTEST_HOLD_MS = 1000;
const LONGEST_HOLD_MS = 8000;
/** Fewer bytes between two looks are no flood any more, whatever they are. */
export const QUIET_BYTES = 65_536;
/** One that begins again so soon after it was let go has never ended. */
const SAME_MS = 1000;

/**
 * Whether a peer is sent so many packets that they better pass the tunnel, which sends many at once. How many there
 * are is not seen then, only how many bytes: as soon as these are few they are let go again; else after a while, and
 * later each time that it was too soon.
 */
export class FloodGuard {
  #sent = 0;
  #holdMs = 0;
  #untilMs: number = Number.NEGATIVE_INFINITY;
  #bytes = 0;

  /** In the kernel. */
  noteSent(packets: number): void {
    this.#sent += packets;
  }

  isHeld(nowMs: number): boolean {
    return nowMs < this.#untilMs;
  }

  /** To be called every 250 ms. @param bytes all that the peer was ever sent */
  look(nowMs: number, bytes: number): void {
    const isQuiet = bytes - this.#bytes < QUIET_BYTES;
    this.#bytes = bytes;
    if (isQuiet && this.isHeld(nowMs)) {
      this.#untilMs = nowMs;
      this.#holdMs = 0;
    }
    const isFlood = this.#sent >= FLOOD_PACKETS;
    this.#sent = 0;
    if (!isFlood) return;
    const isSame = this.#holdMs > 0 && nowMs - this.#untilMs <= SAME_MS;
    this.#holdMs = isSame ? Math.min(LONGEST_HOLD_MS, 2 * this.#holdMs) : SHORTEST_HOLD_MS;
    this.#untilMs = nowMs + this.#holdMs;
  }
}
