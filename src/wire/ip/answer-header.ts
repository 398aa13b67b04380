import { checksumOf, pseudoHeaderSum, sumOf } from "./checksum.ts";
import {
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

/** Where a packet is to be written. */
export interface PacketPlace {
  readonly view: DataView;
  readonly at: number;
}

/** What follows the header. */
export interface AnswerBody {
  readonly protocol: number;
  readonly byteCount: number;
}

const HOP_LIMIT = 64;
const V4_VERSION_AND_LENGTH = 0x45;
const V6_VERSION = 0x60;

/**
 * Writes the header of a packet that answers another one, as if it came from where that goes to.
 * Returns how long it is.
 */
export function putAnswerHeader(
  view: DataView,
  offset: number,
  packet: IpPacket,
  { protocol, byteCount }: AnswerBody,
  { view: to, at }: PacketPlace,
): number {
  if (packet.isV6) {
    clear(to, at, V6_HEADER_BYTES);
    to.setUint8(at, V6_VERSION);
    to.setUint16(at + V6_LENGTH, byteCount);
    to.setUint8(at + V6_NEXT, protocol);
    to.setUint8(at + V6_NEXT + 1, HOP_LIMIT);
    copy(view, offset + V6_DESTINATION, 16, to, at + V6_SOURCE);
    copy(view, offset + V6_SOURCE, 16, to, at + V6_DESTINATION);
    return V6_HEADER_BYTES;
  }
  clear(to, at, V4_HEADER_BYTES);
  to.setUint8(at, V4_VERSION_AND_LENGTH);
  to.setUint16(at + V4_LENGTH, V4_HEADER_BYTES + byteCount);
  to.setUint8(at + V4_PROTOCOL - 1, HOP_LIMIT);
  to.setUint8(at + V4_PROTOCOL, protocol);
  copy(view, offset + V4_DESTINATION, 4, to, at + V4_SOURCE);
  copy(view, offset + V4_SOURCE, 4, to, at + V4_DESTINATION);
  to.setUint16(at + V4_CHECKSUM, checksumOf(sumOf(to, at, V4_HEADER_BYTES)));
  return V4_HEADER_BYTES;
}

/** The sum of the addresses, protocol and length of a packet at `at`, which checksums of what follows begin with. */
export function addressSum(
  view: DataView,
  at: number,
  isV6: boolean,
  { protocol, byteCount }: AnswerBody,
): number {
  const addresses = isV6
    ? { addresses: at + V6_SOURCE, byteCount: 32 }
    : { addresses: at + V4_SOURCE, byteCount: 8 };
  return pseudoHeaderSum(view, addresses, protocol, byteCount);
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
