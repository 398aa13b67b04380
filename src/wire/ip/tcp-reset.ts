import { addressSum, clear, type PacketPlace, putAnswerHeader } from "./answer-header.ts";
import { checksumOf, sumOf } from "./checksum.ts";
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
} from "./ip-numbers.ts";
import type { IpPacket } from "./ip-packet.ts";

const TCP_ACKNOWLEDGED = 8;
const NO_OPTIONS = 0x50;

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
  const body = { protocol: PROTOCOL_TCP, byteCount: TCP_HEADER_BYTES };
  const headerBytes = putAnswerHeader(view, offset, packet, body, out);
  const tcp = out.at + headerBytes;
  clear(out.view, tcp, TCP_HEADER_BYTES);
  putSegment(view, offset, packet, out.view, tcp);
  const sum = addressSum(out.view, out.at, packet.isV6, body);
  out.view.setUint16(tcp + TCP_CHECKSUM, checksumOf(sumOf(out.view, tcp, TCP_HEADER_BYTES, sum)));
  return headerBytes + TCP_HEADER_BYTES;
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
