import type { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import {
  PROTOCOL_UDP,
  UDP_CHECKSUM,
  UDP_HEADER_BYTES,
  UDP_LENGTH,
  V4_CHECKSUM,
  V4_DESTINATION,
  V4_DONT_FRAGMENT,
  V4_FRAGMENT,
  V4_HEADER_BYTES,
  V4_ID,
  V4_LENGTH,
  V4_PROTOCOL,
  V4_SOURCE,
} from "../../../wire/ip/ip-numbers.ts";
import { PEER_VALUE } from "../layout.ts";
import { fold } from "./emit.ts";
import { MEMORY, SCRATCH } from "./scratch.ts";
import type { WireLengths } from "./wire-lengths.ts";

/** Where headers are in a frame. */
export const FRAME = {
  ethernetType: 12,
  ip: 14,
  udp: 34,
  /** The wire form: its type, the receiver, and of sealed ones the counter. */
  type: 42,
  receiver: 46,
  counter: 50,
} as const;

/** Version 4, and a header without options. */
export const V4_FIRST_BYTE = 0x45;

/** A number of two bytes as it is read from a packet. */
export function swapped(value: number): number {
  return ((value & 0xff) << 8) | (value >> 8);
}

/** As a number of two bytes is read from a packet, and written. */
export const ETHERTYPE_V4 = 0x0008;
export const ETHERTYPE_V6 = 0xdd86;

/** Version and length of the header, and don't fragment, and 64 hops: as they are written. */
const VERSION_WORD = V4_FIRST_BYTE;
const FRAGMENT_WORD: number = swapped(V4_DONT_FRAGMENT);
const HOPS_WORD: number = (PROTOCOL_UDP << 8) | 64;

const HEADERS: number = SCRATCH.headers;
const IP: number = HEADERS + FRAME.ip;
const UDP: number = HEADERS + FRAME.udp;
const WAY: number = SCRATCH.way;

/**
 * Writes `headers` up to the receiver, for the PEER_VALUE in `way` and the text in `text`. There is no checksum of
 * UDP: what is inside has its own. Uses r1 to r3.
 */
export function emitOuterHeaders(assembler: BpfAssembler, lengths: WireLengths): void {
  const { type, prefixBytes, tagBytes } = lengths;
  // The kernel writes the addresses of Ethernet.
  assembler.store(64, MEMORY, HEADERS, 0).store(32, MEMORY, HEADERS + 8, 0);
  assembler.store(16, MEMORY, HEADERS + FRAME.ethernetType, ETHERTYPE_V4);
  assembler.load(32, "r1", MEMORY, SCRATCH.textBytes);
  assembler.alu("add", "r1", UDP_HEADER_BYTES + prefixBytes + tagBytes).move("r2", "r1");
  assembler.swap("big", 16, "r2").store(16, MEMORY, UDP + UDP_LENGTH, "r2");
  assembler.store(16, MEMORY, UDP + UDP_CHECKSUM, 0);
  assembler.load(32, "r2", MEMORY, WAY + PEER_VALUE.localPort).store(32, MEMORY, UDP, "r2");

  assembler.alu("add", "r1", V4_HEADER_BYTES).swap("big", 16, "r1");
  assembler.store(16, MEMORY, IP, VERSION_WORD).store(16, MEMORY, IP + V4_LENGTH, "r1");
  assembler.store(16, MEMORY, IP + V4_ID, 0).store(16, MEMORY, IP + V4_FRAGMENT, FRAGMENT_WORD);
  assembler.store(16, MEMORY, IP + V4_PROTOCOL - 1, HOPS_WORD);
  assembler.alu("add", "r1", VERSION_WORD + FRAGMENT_WORD + HOPS_WORD);
  for (const [field, to] of [
    [PEER_VALUE.localIp, V4_SOURCE],
    [PEER_VALUE.remoteIp, V4_DESTINATION],
  ] as const) {
    assembler.load(32, "r2", MEMORY, WAY + field).store(32, MEMORY, IP + to, "r2");
    assembler.alu("add", "r1", "r2");
  }
  fold(assembler, "r1", "r3");
  assembler.alu("xor", "r1", 0xffff).store(16, MEMORY, IP + V4_CHECKSUM, "r1");

  assembler.store(32, MEMORY, HEADERS + FRAME.type, type);
  assembler.load(32, "r2", MEMORY, WAY + PEER_VALUE.receiver);
  assembler.store(32, MEMORY, HEADERS + FRAME.receiver, "r2");
}
