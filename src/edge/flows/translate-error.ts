import type { AddressWords } from "../../wire/ip/address-words.ts";
import { checksumOf, sumOf } from "../../wire/ip/checksum.ts";
import { renewIcmpChecksum } from "../../wire/ip/icmp-error.ts";
import {
  ICMP_HEADER_BYTES,
  V4_CHECKSUM,
  V4_DESTINATION,
  V4_LENGTH,
  V4_SOURCE,
  V6_DESTINATION,
  V6_HEADER_BYTES,
  V6_LENGTH,
  V6_SOURCE,
} from "../../wire/ip/ip-numbers.ts";
import { IpPacket, swapPorts } from "../../wire/ip/ip-packet.ts";
import { type PacketEnds, putV6, Translation } from "../../wire/ip/translate.ts";

/** Reads the beginning of a packet that an error quotes, as a packet that goes the way of the error. */
export class QuotedPacket {
  readonly #packet = new IpPacket();

  /** Undefined where it can not be read, or has no ports. */
  parse(view: DataView, offset: number, error: IpPacket): IpPacket | undefined {
    const packet = this.#packet;
    const at = error.l4At + ICMP_HEADER_BYTES;
    const byteCount = error.byteCount - at;
    if (byteCount < V6_HEADER_BYTES && (error.isV6 || byteCount < SMALLEST_V4)) return undefined;
    const lengthAt = offset + at + (error.isV6 ? V6_LENGTH : V4_LENGTH);
    const length = view.getUint16(lengthAt);
    // What is quoted is a part: it is read as if it were all.
    view.setUint16(lengthAt, byteCount - (error.isV6 ? V6_HEADER_BYTES : 0));
    const isRight = packet.parse(view, offset + at, byteCount);
    view.setUint16(lengthAt, length);
    if (!isRight || !packet.hasPorts || packet.isV6 !== error.isV6) return undefined;
    turnRound(packet);
    return packet;
  }
}

const SMALLEST_V4 = 28;

/** Gives an error, and what it quotes, the ends that the flow has on the other side. */
export function translateError(
  view: DataView,
  offset: number,
  error: IpPacket,
  quoted: IpPacket,
  { from, to }: { readonly from: PacketEnds; readonly to: PacketEnds },
): void {
  const at = offset + error.l4At + ICMP_HEADER_BYTES;
  // The quoted one goes the other way.
  const back = (ends: PacketEnds): PacketEnds => ({
    source: ends.destination,
    destination: ends.source,
    ports: swapPorts(ends.ports),
  });
  new Translation(back(from), back(to)).apply(view, at, quoted, false);
  const isServer = isSource(error, from.source);
  if (error.isV6) {
    if (isServer) putV6(view, offset + V6_SOURCE, to.source);
    putV6(view, offset + V6_DESTINATION, to.destination);
  } else {
    if (isServer) view.setInt32(offset + V4_SOURCE, to.source.w3);
    view.setInt32(offset + V4_DESTINATION, to.destination.w3);
    view.setUint16(offset + V4_CHECKSUM, 0);
    view.setUint16(offset + V4_CHECKSUM, checksumOf(sumOf(view, offset, error.l4At)));
  }
  renewIcmpChecksum(view, offset, error);
}

function turnRound(packet: IpPacket): void {
  const { s0, s1, s2, s3, d0, d1, d2, d3 } = packet;
  [packet.s0, packet.s1, packet.s2, packet.s3] = [d0, d1, d2, d3];
  [packet.d0, packet.d1, packet.d2, packet.d3] = [s0, s1, s2, s3];
  packet.ports = swapPorts(packet.ports);
}

function isSource({ s0, s1, s2, s3 }: IpPacket, { w0, w1, w2, w3 }: AddressWords): boolean {
  return s3 === w3 && s2 === w2 && s1 === w1 && s0 === w0;
}
