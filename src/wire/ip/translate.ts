import { type AddressWords, sameWords } from "./address-words.ts";
import { adjusted, fold, wordDelta } from "./checksum.ts";
import {
  ICMP_CHECKSUM,
  ICMP_ID,
  PROTOCOL_ICMP,
  PROTOCOL_ICMP6,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
  TCP_CHECKSUM,
  UDP_CHECKSUM,
  V4_CHECKSUM,
  V4_DESTINATION,
  V4_SOURCE,
  V6_DESTINATION,
  V6_SOURCE,
} from "./ip-numbers.ts";
import { type IpPacket, LATER_FRAGMENT } from "./ip-packet.ts";

/** The two ends of a packet. */
export interface PacketEnds {
  readonly source: AddressWords;
  readonly destination: AddressWords;
  /** As `IpPacket.ports`. */
  readonly ports: number;
}

/**
 * Other ends for the packets of one direction, and by how much that changes their checksums. Who has many of them
 * keeps these numbers elsewhere, and fills one that is used for all.
 */
export class Translation {
  isNothing: boolean;
  ports: number;
  /** The ends as words; those of IPv4 are in the last ones. */
  s0: number;
  s1: number;
  s2: number;
  s3: number;
  d0: number;
  d1: number;
  d2: number;
  d3: number;
  /** 16 bits each. */
  addressDelta: number;
  portsDelta: number;

  constructor(from: PacketEnds, to: PacketEnds) {
    this.ports = to.ports;
    this.s0 = to.source.w0;
    this.s1 = to.source.w1;
    this.s2 = to.source.w2;
    this.s3 = to.source.w3;
    this.d0 = to.destination.w0;
    this.d1 = to.destination.w1;
    this.d2 = to.destination.w2;
    this.d3 = to.destination.w3;
    this.addressDelta = fold(
      addressDelta(from.source, to.source) + addressDelta(from.destination, to.destination),
    );
    this.portsDelta = from.ports === to.ports ? 0 : fold(wordDelta(from.ports, to.ports));
    this.isNothing =
      sameWords(from.source, to.source) &&
      sameWords(from.destination, to.destination) &&
      from.ports === to.ports;
  }

  /**
   * Writes the other ends. `isPartial`: the checksum covers the pseudo header only so far, and who
   * sends it completes it (NEEDS_CSUM of a virtio header).
   */
  apply(view: DataView, offset: number, packet: IpPacket, isPartial: boolean): void {
    if (this.isNothing) return;
    if (packet.isV6) this.#putV6(view, offset);
    else {
      view.setInt32(offset + V4_SOURCE, this.s3);
      view.setInt32(offset + V4_DESTINATION, this.d3);
      const at = offset + V4_CHECKSUM;
      view.setUint16(at, adjusted(view.getUint16(at), this.addressDelta));
    }
    if (packet.fragment !== LATER_FRAGMENT) {
      this.#applyL4(view, offset + packet.l4At, packet, isPartial);
    }
  }

  #putV6(view: DataView, offset: number): void {
    view.setInt32(offset + V6_SOURCE, this.s0);
    view.setInt32(offset + V6_SOURCE + 4, this.s1);
    view.setInt32(offset + V6_SOURCE + 8, this.s2);
    view.setInt32(offset + V6_SOURCE + 12, this.s3);
    view.setInt32(offset + V6_DESTINATION, this.d0);
    view.setInt32(offset + V6_DESTINATION + 4, this.d1);
    view.setInt32(offset + V6_DESTINATION + 8, this.d2);
    view.setInt32(offset + V6_DESTINATION + 12, this.d3);
  }

  #applyL4(view: DataView, l4: number, packet: IpPacket, isPartial: boolean): void {
    switch (packet.protocol) {
      case PROTOCOL_TCP:
        if (this.portsDelta !== 0) view.setInt32(l4, this.ports);
        this.#adjust(view, l4 + TCP_CHECKSUM, isPartial);
        return;
      case PROTOCOL_UDP:
        if (this.portsDelta !== 0) view.setInt32(l4, this.ports);
        // 0 says that there is none; one that comes out as 0 is written as its other form.
        if (view.getUint16(l4 + UDP_CHECKSUM) === 0 && !isPartial) return;
        this.#adjust(view, l4 + UDP_CHECKSUM, isPartial);
        if (!isPartial && view.getUint16(l4 + UDP_CHECKSUM) === 0) {
          view.setUint16(l4 + UDP_CHECKSUM, 0xffff);
        }
        return;
      case PROTOCOL_ICMP:
      case PROTOCOL_ICMP6:
        this.#applyIcmp(view, l4, packet, isPartial);
        return;
    }
  }

  /** Only the checksum of ICMPv6 covers addresses. */
  #applyIcmp(view: DataView, l4: number, packet: IpPacket, isPartial: boolean): void {
    if (packet.hasPorts && this.portsDelta !== 0) {
      // One of the two is 0: which, says who asks.
      view.setUint16(l4 + ICMP_ID, (this.ports >>> 16) | (this.ports & 0xffff));
    }
    const at = l4 + ICMP_CHECKSUM;
    if (packet.isV6) this.#adjust(view, at, isPartial);
    // Both forms of 0 are right, but for an answer of nothing but zeros: that has this one.
    else view.setUint16(at, adjusted(view.getUint16(at), this.portsDelta) || 0xffff);
  }

  /** Of a partial one the rest is added by who completes it: what it covers so far is not inverted yet. */
  #adjust(view: DataView, at: number, isPartial: boolean): void {
    const checksum = view.getUint16(at);
    const next = isPartial
      ? fold(checksum + this.addressDelta)
      : adjusted(checksum, this.addressDelta + this.portsDelta);
    view.setUint16(at, next);
  }
}

function addressDelta(from: AddressWords, to: AddressWords): number {
  return (
    (from.w0 === to.w0 ? 0 : wordDelta(from.w0, to.w0)) +
    (from.w1 === to.w1 ? 0 : wordDelta(from.w1, to.w1)) +
    (from.w2 === to.w2 ? 0 : wordDelta(from.w2, to.w2)) +
    (from.w3 === to.w3 ? 0 : wordDelta(from.w3, to.w3))
  );
}

export function putV6(view: DataView, offset: number, words: AddressWords): void {
  view.setInt32(offset, words.w0);
  view.setInt32(offset + 4, words.w1);
  view.setInt32(offset + 8, words.w2);
  view.setInt32(offset + 12, words.w3);
}
