/** So many between two looks, 250 ms apart, are more than come one by one: a program that takes them together is quicker. */
export const FLOOD_PACKETS = 10_000;
const SHORTEST_HOLD_MS = 1000;
const LONGEST_HOLD_MS = 8000;
/** One that begins again so soon after it was let go has never ended. */
const SAME_MS = 1000;

/**
 * Whether a peer is sent so many packets that they better pass the tunnel, which sends many at once. How many there
 * are is not seen then: after a while they are let go again, and later each time that it was too soon.
 */
export class FloodGuard {
  #sent = 0;
  #holdMs = 0;
  #untilMs: number = Number.NEGATIVE_INFINITY;

  /** In the kernel. */
  noteSent(packets: number): void {
    this.#sent += packets;
  }

  isHeld(nowMs: number): boolean {
    return nowMs < this.#untilMs;
  }

  /** To be called every 250 ms. */
  look(nowMs: number): void {
    const isFlood = this.#sent >= FLOOD_PACKETS;
    this.#sent = 0;
    if (!isFlood) return;
    const isSame = nowMs - this.#untilMs <= SAME_MS;
    this.#holdMs = isSame ? Math.min(LONGEST_HOLD_MS, 2 * this.#holdMs) : SHORTEST_HOLD_MS;
    this.#untilMs = nowMs + this.#holdMs;
  }
}
