/** How many packets wait at most: for one thing, and in all. */
const MAX_EACH = 16;
const MAX_BYTES = 2_097_152;

/** Copies of packets that wait until something is known or agreed on; bounded, the newest are dropped. */
export class ParkedPackets {
  readonly #waiting = new Map<string, Uint8Array[]>();
  #byteCount = 0;
  /** What found no room, or waited in vain. */
  dropped = 0;

  park(what: string, packet: Uint8Array): void {
    const there = this.#waiting.get(what);
    const isFull = (there?.length ?? 0) >= MAX_EACH;
    if (isFull || this.#byteCount + packet.length > MAX_BYTES) {
      this.dropped += 1;
      return;
    }
    this.#byteCount += packet.length;
    if (there === undefined) this.#waiting.set(what, [packet.slice()]);
    else there.push(packet.slice());
  }

  /** In the order in which they came; they do not wait any more. */
  take(what: string): readonly Uint8Array[] {
    const packets = this.#waiting.get(what) ?? [];
    this.#waiting.delete(what);
    for (const { length } of packets) this.#byteCount -= length;
    return packets;
  }

  drop(what: string): void {
    this.dropped += this.take(what).length;
  }
}
