import { checksumOf, pseudoHeaderSum, sumOf } from "./checksum.ts";
import { clear, copy, type PacketPlace } from "./icmp-error.ts";
import {
  PROTOCOL_TCP,
  TCP_ACK,
  TCP_CHECKSUM,
  TCP_DATA_OFFSET,
  TCP_FIN,
  TCP_FLAGS,
  TCP_HEADER_BYTES,
  TCP_RST,
  TCP_SEQUENCE,
  TCP_SYN,
  V4_CHECKSUM,
  V4_DESTINATION,
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
import type { IpPacket } from "./ip-packet.ts";

const TCP_ACKNOWLEDGED = 8;
const HOP_LIMIT = 64;
const NO_OPTIONS = 0x50;
const V4_VERSION_AND_LENGTH = 0x45;
const V6_VERSION = 0x60;

/**
 * Writes the reset that answers a segment of a connection that does not exist (RFC 9293, 3.5.2), as if
 * it came from where the segment goes to. Returns how long it is; 0 where none is due.
 */
export function writeTcpReset(
  view: DataView,
  offset: number,
  packet: IpPacket,
  out: PacketPlace,
): number {
  if ((packet.tcpFlags & TCP_RST) !== 0) return 0;
  const l4At = packet.isV6 ? V6_HEADER_BYTES : V4_HEADER_BYTES;
  const total = l4At + TCP_HEADER_BYTES;
  const { view: to, at } = out;
  clear(to, at, total);
  if (packet.isV6) {
    to.setUint8(at, V6_VERSION);
    to.setUint16(at + V6_LENGTH, TCP_HEADER_BYTES);
    to.setUint8(at + V6_NEXT, PROTOCOL_TCP);
    to.setUint8(at + V6_NEXT + 1, HOP_LIMIT);
    copy(view, offset + V6_DESTINATION, 16, to, at + V6_SOURCE);
    copy(view, offset + V6_SOURCE, 16, to, at + V6_DESTINATION);
  } else {
    to.setUint8(at, V4_VERSION_AND_LENGTH);
    to.setUint16(at + V4_LENGTH, total);
    to.setUint8(at + V4_PROTOCOL - 1, HOP_LIMIT);
    to.setUint8(at + V4_PROTOCOL, PROTOCOL_TCP);
    copy(view, offset + V4_DESTINATION, 4, to, at + V4_SOURCE);
    copy(view, offset + V4_SOURCE, 4, to, at + V4_DESTINATION);
    to.setUint16(at + V4_CHECKSUM, checksumOf(sumOf(to, at, V4_HEADER_BYTES)));
  }
  putSegment(view, offset, packet, to, at + l4At);
  const addresses = packet.isV6
    ? { addresses: at + V6_SOURCE, byteCount: 32 }
    : { addresses: at + V4_SOURCE, byteCount: 8 };
  const pseudo = pseudoHeaderSum(to, addresses, PROTOCOL_TCP, TCP_HEADER_BYTES);
  const sum = sumOf(to, at + l4At, TCP_HEADER_BYTES, pseudo);
  to.setUint16(at + l4At + TCP_CHECKSUM, checksumOf(sum));
  return total;
}

function putSegment(
  view: DataView,
  offset: number,
  packet: IpPacket,
  to: DataView,
  at: number,
): void {
  const from = offset + packet.l4At;
  const { tcpFlags } = packet;
  to.setUint16(at, view.getUint16(from + 2));
  to.setUint16(at + 2, view.getUint16(from));
  to.setUint8(at + TCP_DATA_OFFSET, NO_OPTIONS);
  if ((tcpFlags & TCP_ACK) !== 0) {
    to.setUint8(at + TCP_FLAGS, TCP_RST);
    to.setUint32(at + TCP_SEQUENCE, view.getUint32(from + TCP_ACKNOWLEDGED));
    return;
  }
  const headerBytes = packet.headerBytes(view, offset);
  const marks = Number((tcpFlags & TCP_SYN) !== 0) + Number((tcpFlags & TCP_FIN) !== 0);
  const length = packet.byteCount - headerBytes + marks;
  to.setUint8(at + TCP_FLAGS, TCP_RST | TCP_ACK);
  to.setUint32(at + TCP_ACKNOWLEDGED, view.getUint32(from + TCP_SEQUENCE) + length);
}
