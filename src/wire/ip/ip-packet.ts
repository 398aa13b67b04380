import {
  ICMP_ECHO,
  ICMP_ECHO_REPLY,
  ICMP_HEADER_BYTES,
  ICMP_ID,
  ICMP6_ECHO,
  ICMP6_ECHO_REPLY,
  PROTOCOL_ICMP,
  PROTOCOL_ICMP6,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
  TCP_DATA_OFFSET,
  TCP_FLAGS,
  TCP_HEADER_BYTES,
  UDP_HEADER_BYTES,
  V4_DESTINATION,
  V4_FRAGMENT,
  V4_FRAGMENT_OFFSET,
  V4_HEADER_BYTES,
  V4_ID,
  V4_LENGTH,
  V4_MORE_FRAGMENTS,
  V4_PROTOCOL,
  V4_SOURCE,
  V6_DESTINATION,
  V6_HEADER_BYTES,
  V6_LENGTH,
  V6_NEXT,
  V6_SOURCE,
} from "./ip-numbers.ts";

/** The headers of IPv6 that may stand before the one of TCP, UDP or ICMP (RFC 8200, 4). */
const HOP_BY_HOP = 0;
const ROUTING = 43;
const FRAGMENT = 44;
const DESTINATION_OPTIONS = 60;
const FRAGMENT_BYTES = 8;
const MAX_EXTENSIONS = 8;

export const NOT_A_FRAGMENT = 0;
/** The first one, which has the ports. */
export const FIRST_FRAGMENT = 1;
export const LATER_FRAGMENT = 2;

/**
 * What a packet says of itself. One is made and filled again for every packet. Addresses are four
 * signed 32-bit words; those of IPv4 are in the last one, behind zeros. `ports` holds the source's
 * in its upper half and the destination's in its lower; of an echo the identifier stands for the port of who asks.
 */
export class IpPacket {
  isV6 = false;
  protocol = 0;
  s0 = 0;
  s1 = 0;
  s2 = 0;
  s3 = 0;
  d0 = 0;
  d1 = 0;
  d2 = 0;
  d3 = 0;
  ports = 0;
  /** Whether `ports` says something: TCP, UDP, echo. */
  hasPorts = false;
  fragment: number = NOT_A_FRAGMENT;
  fragmentId = 0;
  /** From the beginning of the packet to what follows the headers of IP. */
  l4At = 0;
  /** As long as the header of IP says; never more than there is. */
  byteCount = 0;
  /** 0 where it is not TCP. */
  tcpFlags = 0;

  /** False where it is no packet, or one whose headers are not all there. */
  parse(view: DataView, offset: number, byteCount: number): boolean {
    if (byteCount < V4_HEADER_BYTES) return false;
    const version = view.getUint8(offset) >>> 4;
    if (version === 4) return this.#parseV4(view, offset, byteCount);
    return version === 6 && byteCount >= V6_HEADER_BYTES && this.#parseV6(view, offset, byteCount);
  }

  /** All headers up to the payload of TCP or UDP. */
  headerBytes(view: DataView, offset: number): number {
    if (this.protocol === PROTOCOL_UDP) return this.l4At + UDP_HEADER_BYTES;
    return this.l4At + ((view.getUint8(offset + this.l4At + TCP_DATA_OFFSET) >>> 4) << 2);
  }

  #parseV4(view: DataView, offset: number, byteCount: number): boolean {
    const headerBytes = (view.getUint8(offset) & 0x0f) << 2;
    const total = view.getUint16(offset + V4_LENGTH);
    if (headerBytes < V4_HEADER_BYTES || total < headerBytes || total > byteCount) return false;
    this.isV6 = false;
    this.protocol = view.getUint8(offset + V4_PROTOCOL);
    this.s0 = this.s1 = this.s2 = this.d0 = this.d1 = this.d2 = 0;
    this.s3 = view.getInt32(offset + V4_SOURCE);
    this.d3 = view.getInt32(offset + V4_DESTINATION);
    this.l4At = headerBytes;
    this.byteCount = total;
    const fragment = view.getUint16(offset + V4_FRAGMENT);
    this.fragmentId = view.getUint16(offset + V4_ID);
    this.fragment = fragmentKind(
      fragment & V4_FRAGMENT_OFFSET,
      (fragment & V4_MORE_FRAGMENTS) !== 0,
    );
    return this.#parsePorts(view, offset);
  }

  #parseV6(view: DataView, offset: number, byteCount: number): boolean {
    const total = V6_HEADER_BYTES + view.getUint16(offset + V6_LENGTH);
    if (total > byteCount) return false;
    this.isV6 = true;
    this.s0 = view.getInt32(offset + V6_SOURCE);
    this.s1 = view.getInt32(offset + V6_SOURCE + 4);
    this.s2 = view.getInt32(offset + V6_SOURCE + 8);
    this.s3 = view.getInt32(offset + V6_SOURCE + 12);
    this.d0 = view.getInt32(offset + V6_DESTINATION);
    this.d1 = view.getInt32(offset + V6_DESTINATION + 4);
    this.d2 = view.getInt32(offset + V6_DESTINATION + 8);
    this.d3 = view.getInt32(offset + V6_DESTINATION + 12);
    this.byteCount = total;
    this.fragment = NOT_A_FRAGMENT;
    this.fragmentId = 0;
    return this.#skipExtensions(view, offset) && this.#parsePorts(view, offset);
  }

  #skipExtensions(view: DataView, offset: number): boolean {
    let next = view.getUint8(offset + V6_NEXT);
    let at = V6_HEADER_BYTES;
    for (let count = 0; count < MAX_EXTENSIONS; count += 1) {
      const isOptions = next === HOP_BY_HOP || next === ROUTING || next === DESTINATION_OPTIONS;
      if ((!isOptions && next !== FRAGMENT) || this.fragment === LATER_FRAGMENT) {
        this.protocol = next;
        this.l4At = at;
        return true;
      }
      if (at + FRAGMENT_BYTES > this.byteCount) return false;
      next = view.getUint8(offset + at);
      if (isOptions) at += (view.getUint8(offset + at + 1) + 1) * 8;
      else {
        const fragment = view.getUint16(offset + at + 2);
        this.fragment = fragmentKind(fragment >>> 3, (fragment & 1) !== 0);
        this.fragmentId = view.getInt32(offset + at + 4);
        at += FRAGMENT_BYTES;
      }
      if (at > this.byteCount) return false;
    }
    return false;
  }

  #parsePorts(view: DataView, offset: number): boolean {
    this.ports = 0;
    this.hasPorts = false;
    this.tcpFlags = 0;
    if (this.fragment === LATER_FRAGMENT) return true;
    const l4 = offset + this.l4At;
    const l4Bytes = this.byteCount - this.l4At;
    switch (this.protocol) {
      case PROTOCOL_TCP: {
        if (l4Bytes < TCP_HEADER_BYTES) return false;
        const headerBytes = (view.getUint8(l4 + TCP_DATA_OFFSET) >>> 4) << 2;
        if (headerBytes < TCP_HEADER_BYTES || headerBytes > l4Bytes) return false;
        this.tcpFlags = view.getUint8(l4 + TCP_FLAGS);
        this.ports = view.getInt32(l4);
        this.hasPorts = true;
        return true;
      }
      case PROTOCOL_UDP:
        if (l4Bytes < UDP_HEADER_BYTES) return false;
        this.ports = view.getInt32(l4);
        this.hasPorts = true;
        return true;
      case PROTOCOL_ICMP:
      case PROTOCOL_ICMP6:
        if (l4Bytes < ICMP_HEADER_BYTES) return false;
        this.#parseEcho(view, l4);
        return true;
      default:
        return true;
    }
  }

  #parseEcho(view: DataView, l4: number): void {
    const type = view.getUint8(l4);
    const isV6 = this.protocol === PROTOCOL_ICMP6;
    const id = view.getUint16(l4 + ICMP_ID);
    if (type === (isV6 ? ICMP6_ECHO : ICMP_ECHO)) this.ports = id << 16;
    else if (type === (isV6 ? ICMP6_ECHO_REPLY : ICMP_ECHO_REPLY)) this.ports = id;
    else return;
    this.hasPorts = true;
  }
}

/** The same, seen from the other end. */
export function swapPorts(ports: number): number {
  return (ports << 16) | (ports >>> 16);
}

function fragmentKind(position: number, hasMore: boolean): number {
  if (position !== 0) return LATER_FRAGMENT;
  return hasMore ? FIRST_FRAGMENT : NOT_A_FRAGMENT;
}
