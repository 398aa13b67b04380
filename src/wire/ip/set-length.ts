import { adjusted, fold } from "./checksum.ts";
import {
  PROTOCOL_UDP,
  TCP_CHECKSUM,
  UDP_CHECKSUM,
  UDP_LENGTH,
  V4_CHECKSUM,
  V4_LENGTH,
  V6_HEADER_BYTES,
  V6_LENGTH,
} from "./ip-numbers.ts";
import type { IpPacket } from "./ip-packet.ts";

/** Writes how long a packet is, into the header of IP alone. */
export function setIpLength(view: DataView, offset: number, byteCount: number): void {
  if (view.getUint8(offset) >>> 4 === 6) {
    view.setUint16(offset + V6_LENGTH, byteCount - V6_HEADER_BYTES);
    return;
  }
  const before = view.getUint16(offset + V4_LENGTH);
  view.setUint16(offset + V4_LENGTH, byteCount);
  const checksum = view.getUint16(offset + V4_CHECKSUM);
  view.setUint16(offset + V4_CHECKSUM, adjusted(checksum, (~before & 0xffff) + byteCount));
}

/** How long the header of IP says that a packet is. */
export function ipLength(view: DataView, offset: number): number {
  if (view.getUint8(offset) >>> 4 !== 6) return view.getUint16(offset + V4_LENGTH);
  return V6_HEADER_BYTES + view.getUint16(offset + V6_LENGTH);
}

/**
 * The same for TCP and UDP: their partial checksum covers the length as a part of the pseudo header,
 * and UDP says it once more. `before` and `after` are those of the whole packet.
 */
export function setL4Length(
  view: DataView,
  offset: number,
  packet: IpPacket,
  before: number,
  after: number,
): void {
  const l4 = offset + packet.l4At;
  const isUdp = packet.protocol === PROTOCOL_UDP;
  const at = l4 + (isUdp ? UDP_CHECKSUM : TCP_CHECKSUM);
  const [from, to] = [before - packet.l4At, after - packet.l4At];
  view.setUint16(at, fold(view.getUint16(at) + (~from & 0xffff) + to));
  if (isUdp) view.setUint16(l4 + UDP_LENGTH, to);
}
