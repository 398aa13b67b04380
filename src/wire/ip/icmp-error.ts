import { addressSum, clear, copy, type PacketPlace, putAnswerHeader } from "./answer-header.ts";
import { checksumOf, sumOf } from "./checksum.ts";
import {
  ICMP_CHECKSUM,
  ICMP_HEADER_BYTES,
  PROTOCOL_ICMP,
  PROTOCOL_ICMP6,
  V4_DONT_FRAGMENT,
  V4_FRAGMENT,
  V4_HEADER_BYTES,
  V6_HEADER_BYTES,
} from "./ip-numbers.ts";
import { type IpPacket, NOT_A_FRAGMENT } from "./ip-packet.ts";

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
  const body = { protocol: PROTOCOL_ICMP6, byteCount: l4Bytes };
  const pseudo = packet.isV6 ? addressSum(view, offset, true, body) : 0;
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
  const { isV6 } = packet;
  const headerBytes = isV6 ? V6_HEADER_BYTES : V4_HEADER_BYTES;
  const maxBytes = isV6 ? V6_MAX_BYTES : V4_MAX_BYTES;
  const quoted = Math.min(packet.byteCount, maxBytes - headerBytes - ICMP_HEADER_BYTES);
  const protocol = isV6 ? PROTOCOL_ICMP6 : PROTOCOL_ICMP;
  const body = { protocol, byteCount: ICMP_HEADER_BYTES + quoted };
  const icmp = out.at + putAnswerHeader(view, offset, packet, body, out);
  const [type, code] = isV6 ? error.v6 : error.v4;
  clear(out.view, icmp, ICMP_HEADER_BYTES);
  out.view.setUint8(icmp, type);
  out.view.setUint8(icmp + 1, code);
  // The upper half is not used by IPv4.
  out.view.setUint32(icmp + MTU_AT, error.mtu);
  copy(view, offset, quoted, out.view, icmp + ICMP_HEADER_BYTES);
  const sum = isV6 ? addressSum(out.view, out.at, isV6, body) : 0;
  out.view.setUint16(icmp + ICMP_CHECKSUM, checksumOf(sumOf(out.view, icmp, body.byteCount, sum)));
  return headerBytes + body.byteCount;
}
