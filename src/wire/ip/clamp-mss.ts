import { adjusted } from "./checksum.ts";
import {
  PROTOCOL_TCP,
  TCP_CHECKSUM,
  TCP_DATA_OFFSET,
  TCP_HEADER_BYTES,
  TCP_SYN,
  V4_HEADER_BYTES,
  V6_HEADER_BYTES,
} from "./ip-numbers.ts";
import { type IpPacket, NOT_A_FRAGMENT } from "./ip-packet.ts";

/** RFC 9293, 3.2: kinds of options. */
const END_OF_OPTIONS = 0;
const NO_OPERATION = 1;
const MAXIMUM_SEGMENT_SIZE = 2;
const MSS_OPTION_BYTES = 4;

/**
 * Has the ends of a new TCP connection send no longer segments than fit into packets of `mtu` bytes:
 * the option of a SYN is lowered where it says more. Others are left alone. A checksum that is partial still
 * does not cover the option.
 */
export function clampMss(
  view: DataView,
  offset: number,
  packet: IpPacket,
  mtu: number,
  isPartial: boolean,
): void {
  if ((packet.tcpFlags & TCP_SYN) === 0 || packet.protocol !== PROTOCOL_TCP) return;
  if (packet.fragment !== NOT_A_FRAGMENT) return;
  const l4 = offset + packet.l4At;
  const end = l4 + ((view.getUint8(l4 + TCP_DATA_OFFSET) >>> 4) << 2);
  const at = findMss(view, l4 + TCP_HEADER_BYTES, end);
  const limit = mtu - (packet.isV6 ? V6_HEADER_BYTES : V4_HEADER_BYTES) - TCP_HEADER_BYTES;
  if (at < 0 || view.getUint16(at) <= limit) return;
  const before = view.getUint16(at);
  view.setUint16(at, limit);
  if (isPartial) return;
  // An option may begin at an odd place: then its bytes are in two words of the sum, swapped.
  const isOdd = ((at - l4) & 1) !== 0;
  const delta = isOdd
    ? (~swapBytes(before) & 0xffff) + swapBytes(limit)
    : (~before & 0xffff) + limit;
  view.setUint16(l4 + TCP_CHECKSUM, adjusted(view.getUint16(l4 + TCP_CHECKSUM), delta));
}

/** Where the value is; -1 where there is none. */
function findMss(view: DataView, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const kind = view.getUint8(at);
    if (kind === END_OF_OPTIONS) return -1;
    if (kind === NO_OPERATION) {
      at += 1;
      continue;
    }
    const byteCount = at + 1 < end ? view.getUint8(at + 1) : 0;
    if (byteCount < 2 || at + byteCount > end) return -1;
    if (kind === MAXIMUM_SEGMENT_SIZE) return byteCount === MSS_OPTION_BYTES ? at + 2 : -1;
    at += byteCount;
  }
  return -1;
}

function swapBytes(word: number): number {
  return ((word & 0xff) << 8) | (word >>> 8);
}
