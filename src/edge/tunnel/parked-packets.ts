/** How many packets wait at most: for one thing, and in all. */
const MAX_EACH = 16;
const MAX_BYTES = 2_097_152;
/** A handshake is tried twice in that time. What is older was sent again, or is of no use to anybody. */
export const MAX_WAIT_MS = 10_000;

interface Waiting {
  readonly sinceMs: number;
  readonly packets: Uint8Array[];
}

/** Copies of packets that wait until something is known or agreed on; bounded, the newest are dropped. */
export class ParkedPackets {
  /** In the order in which the first ones came. */
  readonly #waiting = new Map<string, Waiting>();
  #byteCount = 0;
  /** What found no room, or waited in vain. */
  dropped = 0;

  park(what: string, packet: Uint8Array, nowMs: number): void {
    const there = this.#waiting.get(what);
    const isFull = (there?.packets.length ?? 0) >= MAX_EACH;
    if (isFull || this.#byteCount + packet.length > MAX_BYTES) {
      this.dropped += 1;
      return;
    }
    this.#byteCount += packet.length;
    if (there === undefined) this.#waiting.set(what, { sinceMs: nowMs, packets: [packet.slice()] });
    else there.packets.push(packet.slice());
  }

  /** In the order in which they came; they do not wait any more. */
  take(what: string): readonly Uint8Array[] {
    const packets = this.#waiting.get(what)?.packets ?? [];
    this.#waiting.delete(what);
    for (const { length } of packets) this.#byteCount -= length;
    return packets;
  }

  drop(what: string): void {
    this.dropped += this.take(what).length;
  }

  /** Gives up what has waited for too long: a peer that never answers must not keep the room of others. */
  expire(nowMs: number): void {
    for (const [what, { sinceMs }] of this.#waiting) {
      if (nowMs - sinceMs < MAX_WAIT_MS) return;
      this.drop(what);
    }
  }
}
