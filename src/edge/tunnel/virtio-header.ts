/** struct virtio_net_hdr (virtio 1.2, 5.1.6), which stands before the packets of a TUN. Little-endian. */
import { VNET_BYTES } from "../../platform/linux/tun-device.ts";
import { PROTOCOL_TCP, TCP_CHECKSUM, TCP_CWR, UDP_CHECKSUM } from "../../wire/ip/ip-numbers.ts";
import type { IpPacket } from "../../wire/ip/ip-packet.ts";

const NEEDS_CSUM = 1;
const GSO_TCPV4 = 1;
const GSO_TCPV6 = 4;
const GSO_UDP_L4 = 5;
const GSO_ECN = 0x80;

const GSO_TYPE = 1;
const HEADER_LENGTH = 2;
const GSO_SIZE = 4;
const CSUM_START = 6;
const CSUM_OFFSET = 8;

/** Whether the checksum of a packet that was read is partial. */
export function isPartial(view: DataView, at: number): boolean {
  return (view.getUint8(at) & NEEDS_CSUM) !== 0;
}

/** How long the pieces of a super-packet that was read shall be; 0 where it is a single packet. */
export function gsoSize(view: DataView, at: number): number {
  return (view.getUint8(at + GSO_TYPE) & ~GSO_ECN) === 0 ? 0 : view.getUint16(at + GSO_SIZE, true);
}

/** For a packet whose checksum is right, or that has none. */
export function putPlainVirtio(view: DataView, at: number): void {
  for (let index = 0; index < VNET_BYTES; index += 2) view.setUint16(at + index, 0);
}

/**
 * For a packet whose checksum is partial; of pieces of `size` bytes where that is not 0. What the sender
 * said of its own is not used: all comes from the packet.
 */
export function putPartialVirtio(
  view: DataView,
  at: number,
  packet: IpPacket,
  headerBytes: number,
  size: number,
): void {
  const isTcp = packet.protocol === PROTOCOL_TCP;
  view.setUint8(at, NEEDS_CSUM);
  view.setUint8(at + GSO_TYPE, size === 0 ? 0 : gsoType(packet, isTcp));
  view.setUint16(at + HEADER_LENGTH, headerBytes, true);
  view.setUint16(at + GSO_SIZE, size, true);
  view.setUint16(at + CSUM_START, packet.l4At, true);
  view.setUint16(at + CSUM_OFFSET, isTcp ? TCP_CHECKSUM : UDP_CHECKSUM, true);
}

function gsoType(packet: IpPacket, isTcp: boolean): number {
  if (!isTcp) return GSO_UDP_L4;
  const ecn = (packet.tcpFlags & TCP_CWR) === 0 ? 0 : GSO_ECN;
  return (packet.isV6 ? GSO_TCPV6 : GSO_TCPV4) | ecn;
}
