/**
 * # What is in a datagram between two nodes
 *
 *     compat   the packet
 *     fast     11 00 00 00 | receiver | segment header | packet
 *     secure   04 00 00 00 | receiver | counter (8) | sealed: segment header | packet
 *
 * A packet begins with 4 or 6 in its first four bits, so the three are told apart. `receiver` is the number that
 * the receiver gave to the session (little-endian, as WireGuard has it), 0 where there is none. Handshakes are WireGuard's: 01 and 02.
 *
 * The **segment header** (8 bytes: flags, 0, index (2), size (2), 0 (2)) says what the virtio header of a TUN
 * said. A super-packet of TCP or UDP is sent as datagrams that all begin with the same headers, followed by
 * `size` bytes of its payload each, in order. So each of them, and each run of them, is a packet by
 * itself: the sequence number is that of the headers and `index` times `size`. Nothing is put together from
 * several messages, nothing waits, and a datagram that is lost takes no other with it.
 */
import { AEAD_TAG_BYTES } from "../../platform/linux/openssl/aead-key.ts";

export const TYPE_INITIATION = 1;
export const TYPE_RESPONSE = 2;
export const TYPE_SECURE = 4;
/** The lower half is the version. */
export const TYPE_FAST = 0x11;

export const RECEIVER_AT = 4;
const COUNTER_AT = 8;

export const SEGMENT_BYTES = 8;
/** Before the segment header. */
const FAST_PREFIX_BYTES = 8;
export const SECURE_PREFIX_BYTES = 16;
/** Before the packet. */
export const FAST_HEADER_BYTES: number = FAST_PREFIX_BYTES + SEGMENT_BYTES;
export const SECURE_HEADER_BYTES: number = SECURE_PREFIX_BYTES + SEGMENT_BYTES;

/** All that a datagram holds besides the packet, with the headers of UDP and IPv4 or IPv6. */
export const SECURE_OVERHEAD_BYTES: number = SECURE_HEADER_BYTES + AEAD_TAG_BYTES;
export const UDP_V4_BYTES = 28;
export const UDP_V6_BYTES = 48;

/** The checksum covers the pseudo header only so far. */
export const FLAG_PARTIAL = 1;
/** One of several that make a super-packet. */
export const FLAG_CHUNK = 2;
/** The last of them. */
export const FLAG_LAST = 4;
/** Not a packet: a message of the tunnel itself. */
export const FLAG_CONTROL = 8;

const INDEX_AT = 2;
const SIZE_AT = 4;

export function putSegmentHeader(
  view: DataView,
  at: number,
  flags: number,
  index: number,
  size: number,
): void {
  view.setUint16(at, flags << 8);
  view.setUint16(at + INDEX_AT, index);
  view.setUint32(at + SIZE_AT, size << 16);
}

export function segmentFlags(view: DataView, at: number): number {
  return view.getUint8(at);
}

export function segmentIndex(view: DataView, at: number): number {
  return view.getUint16(at + INDEX_AT);
}

export function segmentSize(view: DataView, at: number): number {
  return view.getUint16(at + SIZE_AT);
}

export function putFastPrefix(view: DataView, at: number, receiver: number): void {
  view.setUint32(at, TYPE_FAST, true);
  view.setUint32(at + RECEIVER_AT, receiver, true);
}

export function putSecurePrefix(
  view: DataView,
  at: number,
  receiver: number,
  counter: number,
): void {
  view.setUint32(at, TYPE_SECURE, true);
  view.setUint32(at + RECEIVER_AT, receiver, true);
  view.setUint32(at + COUNTER_AT, counter % 2 ** 32, true);
  view.setUint32(at + COUNTER_AT + 4, counter / 2 ** 32, true);
}

/** Exact below 2^53; beyond, no session goes. */
export function counterAt(view: DataView, at: number): number {
  return (
    view.getUint32(at + COUNTER_AT, true) + view.getUint32(at + COUNTER_AT + 4, true) * 2 ** 32
  );
}
