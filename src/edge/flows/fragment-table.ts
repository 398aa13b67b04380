import type { IpPacket } from "../../wire/ip/ip-packet.ts";

const MAX_ENTRIES = 1024;
/** RFC 8200, 4.5: pieces that come later are of no use to who puts them together. */
const LIFETIME_MS = 60_000;

/** What became of the first piece of a datagram; the others have no ports, and follow it. */
export class FragmentTable<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly untilMs: number }>();

  get size(): number {
    return this.#entries.size;
  }

  note(packet: IpPacket, value: V, nowMs: number): void {
    const key = keyOf(packet);
    this.#entries.delete(key);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size >= MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(key, { value, untilMs: nowMs + LIFETIME_MS });
  }

  find(packet: IpPacket, nowMs: number): V | undefined {
    const entry = this.#entries.get(keyOf(packet));
    return entry === undefined || entry.untilMs <= nowMs ? undefined : entry.value;
  }
}

/** RFC 8200, 4.5: of IPv6 only the first piece tells the protocol, as more headers may follow that of the piece. */
function keyOf(packet: IpPacket): string {
  const { isV6, s0, s1, s2, s3, d0, d1, d2, d3, fragmentId } = packet;
  const protocol = isV6 ? "v6" : packet.protocol;
  return [s0, s1, s2, s3, d0, d1, d2, d3, protocol, fragmentId].join();
}
