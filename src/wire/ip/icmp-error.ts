import { checksumOf, pseudoHeaderSum, sumOf } from "./checksum.ts";
import {
  ICMP_CHECKSUM,
  ICMP_HEADER_BYTES,
  PROTOCOL_ICMP,
  PROTOCOL_ICMP6,
  V4_CHECKSUM,
  V4_DESTINATION,
  V4_DONT_FRAGMENT,
  V4_FRAGMENT,
  V4_HEADER_BYTES,
  V4_LENGTH,
  V4_PROTOCOL,
  V4_SOURCE,
  V6_DESTINATION,
  V6_HEADER_BYTES,
  V6_LENGTH,
  V6_NEXT,
  V6_SOURCE,
} from "./ip-numbers.ts";
import { type IpPacket, NOT_A_FRAGMENT } from "./ip-packet.ts";

/** Where a packet is to be written. */
export interface PacketPlace {
  readonly view: DataView;
  readonly at: number;
}

/** What an error says: a type and a code, and for too long a packet the MTU. */
interface IcmpError {
  readonly v4: readonly [type: number, code: number];
  readonly v6: readonly [type: number, code: number];
  readonly mtu: number;
}

/** RFC 792: destination unreachable. RFC 1191: where the MTU is. */
const UNREACHABLE = 3;
const PORT_UNREACHABLE = 3;
const FRAGMENTATION_NEEDED = 4;
const V4_ERRORS: ReadonlySet<number> = new Set([UNREACHABLE, 4, 11, 12]);
/** RFC 4443: errors are below 128. */
const V6_UNREACHABLE = 1;
const V6_PORT_UNREACHABLE = 4;
const PACKET_TOO_BIG = 2;
const V6_FIRST_OTHER = 128;
const MTU_AT = 4;
/** RFC 1812, 4.3.2.3 and RFC 4443, 2.4: how long such a message may be. */
const V4_MAX_BYTES = 576;
const V6_MAX_BYTES = 1280;
const HOP_LIMIT = 64;
const V4_VERSION_AND_LENGTH = 0x45;
const V6_VERSION = 0x60;

/** Whether a packet that is too long may be cut in two by others than its sender. */
export function mayBeFragmented(view: DataView, offset: number, packet: IpPacket): boolean {
  return !packet.isV6 && (view.getUint16(offset + V4_FRAGMENT) & V4_DONT_FRAGMENT) === 0;
}

/** Whether a packet is an error that quotes another one, all of it in one piece. */
export function isIcmpError(view: DataView, offset: number, packet: IpPacket): boolean {
  if (packet.fragment !== NOT_A_FRAGMENT) return false;
  if (packet.protocol === PROTOCOL_ICMP && !packet.isV6) {
    return V4_ERRORS.has(view.getUint8(offset + packet.l4At));
  }
  const isV6 = packet.protocol === PROTOCOL_ICMP6 && packet.isV6;
  return isV6 && view.getUint8(offset + packet.l4At) < V6_FIRST_OTHER;
}

/** After what it says or quotes was changed. */
export function renewIcmpChecksum(view: DataView, offset: number, packet: IpPacket): void {
  const icmp = offset + packet.l4At;
  const l4Bytes = packet.byteCount - packet.l4At;
  const addresses = { addresses: offset + V6_SOURCE, byteCount: 32 };
  const pseudo = packet.isV6 ? pseudoHeaderSum(view, addresses, PROTOCOL_ICMP6, l4Bytes) : 0;
  view.setUint16(icmp + ICMP_CHECKSUM, 0);
  view.setUint16(icmp + ICMP_CHECKSUM, checksumOf(sumOf(view, icmp, l4Bytes, pseudo)));
}

/**
 * Writes the message that tells the sender of a packet that it is longer than `mtu` bytes, as if it
 * came from where the packet goes to. Returns how long it is.
 */
export function writeTooBig(
  view: DataView,
  offset: number,
  packet: IpPacket,
  mtu: number,
  out: PacketPlace,
): number {
  const error = {
    v4: [UNREACHABLE, FRAGMENTATION_NEEDED],
    v6: [PACKET_TOO_BIG, 0],
    mtu,
  } as const;
  return writeError(view, offset, packet, error, out);
}

/** The same, for a port that nobody listens on. */
export function writePortUnreachable(
  view: DataView,
  offset: number,
  packet: IpPacket,
  out: PacketPlace,
): number {
  const error = {
    v4: [UNREACHABLE, PORT_UNREACHABLE],
    v6: [V6_UNREACHABLE, V6_PORT_UNREACHABLE],
    mtu: 0,
  } as const;
  return writeError(view, offset, packet, error, out);
}

function writeError(
  view: DataView,
  offset: number,
  packet: IpPacket,
  error: IcmpError,
  out: PacketPlace,
): number {
  return packet.isV6
    ? writeV6(view, offset, packet, error, out.view, out.at)
    : writeV4(view, offset, packet, error, out.view, out.at);
}

function writeV4(
  view: DataView,
  offset: number,
  packet: IpPacket,
  error: IcmpError,
  out: DataView,
  at: number,
): number {
  const quoted = Math.min(packet.byteCount, V4_MAX_BYTES - V4_HEADER_BYTES - ICMP_HEADER_BYTES);
  const total = V4_HEADER_BYTES + ICMP_HEADER_BYTES + quoted;
  clear(out, at, V4_HEADER_BYTES + ICMP_HEADER_BYTES);
  out.setUint8(at, V4_VERSION_AND_LENGTH);
  out.setUint16(at + V4_LENGTH, total);
  out.setUint8(at + V4_PROTOCOL - 1, HOP_LIMIT);
  out.setUint8(at + V4_PROTOCOL, PROTOCOL_ICMP);
  copy(view, offset + V4_DESTINATION, 4, out, at + V4_SOURCE);
  copy(view, offset + V4_SOURCE, 4, out, at + V4_DESTINATION);
  out.setUint16(at + V4_CHECKSUM, checksumOf(sumOf(out, at, V4_HEADER_BYTES)));
  const icmp = at + V4_HEADER_BYTES;
  out.setUint8(icmp, error.v4[0]);
  out.setUint8(icmp + 1, error.v4[1]);
  // The upper half is not used.
  out.setUint32(icmp + MTU_AT, error.mtu);
  copy(view, offset, quoted, out, icmp + ICMP_HEADER_BYTES);
  out.setUint16(icmp + ICMP_CHECKSUM, checksumOf(sumOf(out, icmp, ICMP_HEADER_BYTES + quoted)));
  return total;
}

function writeV6(
  view: DataView,
  offset: number,
  packet: IpPacket,
  error: IcmpError,
  out: DataView,
  at: number,
): number {
  const quoted = Math.min(packet.byteCount, V6_MAX_BYTES - V6_HEADER_BYTES - ICMP_HEADER_BYTES);
  const l4Bytes = ICMP_HEADER_BYTES + quoted;
  clear(out, at, V6_HEADER_BYTES + ICMP_HEADER_BYTES);
  out.setUint8(at, V6_VERSION);
  out.setUint16(at + V6_LENGTH, l4Bytes);
  out.setUint8(at + V6_NEXT, PROTOCOL_ICMP6);
  out.setUint8(at + V6_NEXT + 1, HOP_LIMIT);
  copy(view, offset + V6_DESTINATION, 16, out, at + V6_SOURCE);
  copy(view, offset + V6_SOURCE, 16, out, at + V6_DESTINATION);
  const icmp = at + V6_HEADER_BYTES;
  out.setUint8(icmp, error.v6[0]);
  out.setUint8(icmp + 1, error.v6[1]);
  out.setUint32(icmp + MTU_AT, error.mtu);
  copy(view, offset, quoted, out, icmp + ICMP_HEADER_BYTES);
  const pseudo = pseudoHeaderSum(
    out,
    { addresses: at + V6_SOURCE, byteCount: 32 },
    PROTOCOL_ICMP6,
    l4Bytes,
  );
  out.setUint16(icmp + ICMP_CHECKSUM, checksumOf(sumOf(out, icmp, l4Bytes, pseudo)));
  return V6_HEADER_BYTES + l4Bytes;
}

export function clear(view: DataView, at: number, byteCount: number): void {
  bytesAt(view, at, byteCount).fill(0);
}

export function copy(
  from: DataView,
  at: number,
  byteCount: number,
  to: DataView,
  toAt: number,
): void {
  bytesAt(to, toAt, byteCount).set(bytesAt(from, at, byteCount));
}

function bytesAt(view: DataView, at: number, byteCount: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + at, byteCount);
}
