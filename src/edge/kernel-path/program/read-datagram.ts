import type { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import { PACKET_CONTEXT } from "../../../platform/linux/bpf/bpf-numbers.ts";
import {
  PROTOCOL_UDP,
  UDP_LENGTH,
  V4_DESTINATION,
  V4_FRAGMENT,
  V4_FRAGMENT_OFFSET,
  V4_HEADER_BYTES,
  V4_LENGTH,
  V4_MORE_FRAGMENTS,
  V4_PROTOCOL,
  V4_SOURCE,
} from "../../../wire/ip/ip-numbers.ts";
import { SEGMENT_BYTES } from "../../tunnel/wire-form.ts";
import {
  FOLLOW_SENDER_NS,
  type KernelPathMaps,
  MAX_SHORT_BYTES,
  MODE_FAST,
  MODE_SECURE,
  RECORD,
  SENDER_KEY,
  SENDER_VALUE,
  SETTING,
} from "../layout.ts";
import { markLeft } from "./counters.ts";
import {
  emitNow,
  loadBytes,
  loadPacketBytes,
  loadWay,
  lookUp,
  MIN_PACKET_BYTES,
  NEXT,
} from "./emit.ts";
import { ETHERTYPE_V4, FRAME, swapped, V4_FIRST_BYTE } from "./outer-headers.ts";
import { CONTEXT, MEMORY, RECORD_AT, SCRATCH } from "./scratch.ts";
import { ETHERNET_BYTES, FAST, SECURE } from "./wire-lengths.ts";

const SETTING_AT = "r8";
const HEADERS: number = SCRATCH.headers;
const IP: number = HEADERS + FRAME.ip;
const UDP: number = HEADERS + FRAME.udp;
const KEY: number = SCRATCH.senderKey;
const WAY: number = SCRATCH.way;
const DESTINATION_PORT = 2;
const MIN_FRAME_BYTES: number = ETHERNET_BYTES + FAST.outerBytes + MIN_PACKET_BYTES;

/**
 * The headers of a datagram that a peer sent: `mode`, the sender in `way` and its record, `packetBytes` and
 * `textBytes`. What is none, is too long, or comes behind one that is, goes to the tunnel.
 */
export function emitReadDatagram(assembler: BpfAssembler, maps: KernelPathMaps): void {
  readHeaders(assembler);
  findSender(assembler, maps);
  emitNow(assembler);
  checkLength(assembler);
}

/** All bytes are there: even the shortest datagram that is for us is longer than these headers. */
function readHeaders(assembler: BpfAssembler): void {
  assembler.load(32, "r1", CONTEXT, PACKET_CONTEXT.protocol);
  assembler.jumpIf("notEqual", "r1", ETHERTYPE_V4, NEXT);
  // What a card hears only because it listens to everything, or is of a network inside of this one.
  for (const field of [PACKET_CONTEXT.packetType, PACKET_CONTEXT.hasVlan]) {
    assembler.load(32, "r1", CONTEXT, field).jumpIf("notEqual", "r1", 0, NEXT);
  }
  loadPacketBytes(assembler, "r1");
  assembler.jumpIf("below", "r1", MIN_FRAME_BYTES, NEXT).move("r4", SECURE.headerBytes);
  loadBytes(assembler, 0, HEADERS);
  assembler.load(8, "r1", MEMORY, IP).jumpIf("notEqual", "r1", V4_FIRST_BYTE, NEXT);
  assembler.load(8, "r1", MEMORY, IP + V4_PROTOCOL).jumpIf("notEqual", "r1", PROTOCOL_UDP, NEXT);
  assembler.load(16, "r1", MEMORY, UDP + DESTINATION_PORT);
  assembler.load(16, "r2", SETTING_AT, SETTING.localPort).jumpIf("notEqual", "r1", "r2", NEXT);
  assembler.load(16, "r1", MEMORY, IP + V4_FRAGMENT);
  assembler.jumpIf("anyBit", "r1", swapped(V4_FRAGMENT_OFFSET), NEXT);
  assembler.load(32, "r1", SETTING_AT, SETTING.tun).store(32, MEMORY, SCRATCH.tun, "r1");
  assembler.load(32, "r1", MEMORY, HEADERS + FRAME.type).move("r2", MODE_SECURE);
  assembler.jumpIf("equal", "r1", SECURE.type, "mode is known").move("r2", MODE_FAST);
  assembler.jumpIf("notEqual", "r1", FAST.type, NEXT);
  assembler.label("mode is known").store(32, MEMORY, SCRATCH.mode, "r2");
}

function findSender(assembler: BpfAssembler, maps: KernelPathMaps): void {
  assembler.load(32, "r1", MEMORY, HEADERS + FRAME.receiver);
  assembler.load(32, "r2", MEMORY, IP + V4_SOURCE).load(16, "r3", MEMORY, UDP);
  assembler.store(32, MEMORY, KEY + SENDER_KEY.receiver, "r1");
  assembler.store(32, MEMORY, KEY + SENDER_KEY.remoteIp, "r2");
  assembler.store(32, MEMORY, KEY + SENDER_KEY.remotePort, "r3");
  lookUp(assembler, maps.senders, KEY);
  loadWay(assembler, maps, { ...SENDER_VALUE, keyAt: KEY, keyBytes: SENDER_KEY.bytes });
  assembler.load(32, "r1", MEMORY, WAY + SENDER_VALUE.localIp);
  assembler.load(32, "r2", MEMORY, IP + V4_DESTINATION).jumpIf("notEqual", "r1", "r2", NEXT);
  assembler.load(32, "r1", MEMORY, WAY + SENDER_VALUE.mode);
  assembler.load(32, "r2", MEMORY, SCRATCH.mode).jumpIf("notEqual", "r1", "r2", NEXT);
}

/** By the headers: a frame may have bytes behind the packet that only make it long enough. */
function checkLength(assembler: BpfAssembler): void {
  assembler.load(32, "r1", CONTEXT, PACKET_CONTEXT.gsoBytes).jumpIf("notEqual", "r1", 0, "long");
  assembler.load(16, "r1", MEMORY, IP + V4_FRAGMENT);
  assembler.jumpIf("anyBit", "r1", swapped(V4_MORE_FRAGMENTS), "long");
  assembler.load(16, "r1", MEMORY, IP + V4_LENGTH).swap("big", 16, "r1");
  loadPacketBytes(assembler, "r2");
  assembler.alu("subtract", "r2", ETHERNET_BYTES).jumpIf("above", "r1", "r2", NEXT);
  assembler.load(16, "r2", MEMORY, UDP + UDP_LENGTH).swap("big", 16, "r2");
  assembler.alu("add", "r2", V4_HEADER_BYTES).jumpIf("notEqual", "r1", "r2", NEXT);
  assembler.load(32, "r2", MEMORY, SCRATCH.mode);
  assembler.alu("subtract", "r1", FAST.outerBytes).jumpIf("equal", "r2", MODE_FAST, "inner length");
  const more = SECURE.outerBytes + SECURE.tagBytes - FAST.outerBytes;
  assembler.alu("subtract", "r1", more).label("inner length");
  assembler.jumpIf("signedBelow", "r1", MIN_PACKET_BYTES, NEXT);
  assembler.jumpIf("belowOrEqual", "r1", MAX_SHORT_BYTES, "is short");
  assembler.label("long").load(64, "r1", MEMORY, SCRATCH.nowNs);
  assembler.store(64, RECORD_AT, RECORD.slowNs, "r1");
  assembler.load(32, "r1", MEMORY, SCRATCH.mode).jumpIf("equal", "r1", MODE_FAST, NEXT);
  markLeft(assembler);
  assembler.jump(NEXT);

  assembler.label("is short").store(32, MEMORY, SCRATCH.packetBytes, "r1");
  assembler.alu("add", "r1", SEGMENT_BYTES).store(32, MEMORY, SCRATCH.textBytes, "r1");
  assembler.load(64, "r1", MEMORY, SCRATCH.nowNs).load(64, "r2", RECORD_AT, RECORD.slowNs);
  assembler.alu("subtract", "r1", "r2").jumpIf("signedBelow", "r1", FOLLOW_SENDER_NS, NEXT);
}
