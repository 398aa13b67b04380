/** Which packets that came one after the other can be given to the kernel as one. */
import {
  PROTOCOL_UDP,
  V4_DONT_FRAGMENT,
  V4_FRAGMENT,
  V4_PROTOCOL,
  V4_SOURCE,
  V6_NEXT,
  V6_SOURCE,
} from "../../wire/ip/ip-numbers.ts";
import { FLAG_CHUNK, SEGMENT_BYTES, segmentFlags, segmentIndex } from "./wire-form.ts";

const V4_PLAIN = 0x45;
const V4_L4 = 20;
const V6_L4 = 40;

/** Whether a packet is UDP right after a header of IP without options, and in one piece. */
export function isUdp(view: DataView, at: number): boolean {
  const first = view.getUint8(at);
  if (first >>> 4 === 6) return view.getUint8(at + V6_NEXT) === PROTOCOL_UDP;
  const isWhole = (view.getUint16(at + V4_FRAGMENT) & ~V4_DONT_FRAGMENT) === 0;
  return first === V4_PLAIN && isWhole && view.getUint8(at + V4_PROTOCOL) === PROTOCOL_UDP;
}

/** Whether the packet at `other` has the ends and the class of the one at `at`, of which `isUdp` is true. */
export function isSameUdpFlow(view: DataView, at: number, other: number): boolean {
  if (view.getUint16(at) !== view.getUint16(other) || !isUdp(view, other)) return false;
  const isV6 = view.getUint8(at) >>> 4 === 6;
  // Addresses and ports follow each other.
  return sameWords(view, at, other, isV6 ? V6_SOURCE : V4_SOURCE, isV6 ? V6_L4 + 4 : V4_L4 + 4);
}

/** Whether the datagram at `other` is the piece of the same super-packet that is `steps` further. */
export function isNextChunk(view: DataView, at: number, other: number, steps: number): boolean {
  const [header, next] = [at - SEGMENT_BYTES, other - SEGMENT_BYTES];
  if ((segmentFlags(view, next) & FLAG_CHUNK) === 0) return false;
  if (segmentIndex(view, next) !== segmentIndex(view, header) + steps) return false;
  const first = view.getUint8(at);
  if (first !== view.getUint8(other)) return false;
  if (first >>> 4 === 6) return sameWords(view, at, other, V6_SOURCE, V6_L4 + 8);
  const l4 = (first & 0x0f) << 2;
  // Identification, addresses, ports and sequence number.
  return (
    view.getUint16(at + 4) === view.getUint16(other + 4) &&
    sameWords(view, at, other, V4_SOURCE, l4 + 8)
  );
}

function sameWords(view: DataView, a: number, b: number, from: number, to: number): boolean {
  for (let at = from; at < to; at += 4) {
    if (view.getInt32(a + at) !== view.getInt32(b + at)) return false;
  }
  return true;
}
