import type { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import { HELPER } from "../../../platform/linux/bpf/bpf-numbers.ts";
import { V4_HEADER_BYTES, V6_HEADER_BYTES } from "../../../wire/ip/ip-numbers.ts";
import { COUNTS, FLOW_KEY, type KernelPathMaps, MODE_FAST, PEER_VALUE, RECORD } from "../layout.ts";
import {
  adjustRoom,
  count,
  countPacket,
  FAILED,
  loadBounded,
  loadPacketBytes,
  NEXT,
  storeBytes,
} from "./emit.ts";
import { ETHERTYPE_V4 } from "./outer-headers.ts";
import { CONTEXT, MAX_TEXT_BYTES, MEMORY, SCRATCH } from "./scratch.ts";
import { ETHERNET_BYTES, FAST, SECURE, type WireLengths } from "./wire-lengths.ts";

export const WRAP = "wrap";
/** Beyond the place where a checksum begins: a packet without that has none to be completed. */
const CLEARED_BYTES = 24;
/** As long as the shortest packet has to be for that. */
const SPARE_BYTES = 16;
const GROWTH = "r8";

/**
 * Makes the datagram of `headers` and `text` out of the packet, and sends it. Nothing of the packet is needed any
 * more: what counts is that its length is right, and that the kernel does not believe that it has to complete a
 * checksum, which it does until the place of that is cut off.
 */
export function emitWrap(assembler: BpfAssembler, maps: KernelPathMaps): void {
  assembler.label(WRAP);
  loadPacketBytes(assembler, "r2");
  assembler.alu("add", "r2", SPARE_BYTES).move("r1", CONTEXT).move("r3", 0);
  // Where this is refused, nothing has been changed yet.
  assembler.call(HELPER.changeTail).jumpIf("notEqual", "r0", 0, NEXT);
  assembler.load(32, "r1", MEMORY, SCRATCH.way + PEER_VALUE.mode);
  assembler.move(GROWTH, growthOf(SECURE)).jumpIf("notEqual", "r1", MODE_FAST, "growth is known");
  assembler.move(GROWTH, growthOf(FAST)).label("growth is known");
  becomeV4(assembler);
  assembler.move("r2", -CLEARED_BYTES).move("r4", 0);
  adjustRoom(assembler);
  assembler.move("r2", GROWTH).move("r4", 0);
  adjustRoom(assembler);
  assembler.move("r1", CONTEXT).move("r2", ETHERNET_BYTES).move("r3", 0);
  assembler.call(HELPER.changeHead).jumpIf("notEqual", "r0", 0, FAILED);
  assembler.load(32, "r1", MEMORY, SCRATCH.way + PEER_VALUE.mode);
  assembler.jumpIf("equal", "r1", MODE_FAST, "write fast");
  write(assembler, SECURE);
  assembler.jump("written").label("write fast");
  write(assembler, FAST);
  assembler.label("written");
  countPacket(assembler, RECORD.packetsOut, RECORD.bytesOut);
  count(assembler, maps, COUNTS.sent, "sent counted");
  assembler.load(32, "r1", MEMORY, SCRATCH.way + PEER_VALUE.link);
  assembler.move("r2", 0).move("r3", 0).move("r4", 0).call(HELPER.redirectToNeighbour).exit();
}

function growthOf({ outerBytes, tagBytes }: WireLengths): number {
  return CLEARED_BYTES + outerBytes + tagBytes - SPARE_BYTES;
}

/** A packet of IPv6 is made one of IPv4, which is as much shorter as the header is. */
function becomeV4(assembler: BpfAssembler): void {
  assembler.load(8, "r1", MEMORY, SCRATCH.flowKey + FLOW_KEY.isV6);
  assembler.jumpIf("equal", "r1", 0, "is v4 now");
  assembler.alu("add", GROWTH, V6_HEADER_BYTES - V4_HEADER_BYTES);
  assembler.move("r1", CONTEXT).move("r2", ETHERTYPE_V4).move("r3", 0);
  assembler.call(HELPER.changeProtocol).jumpIf("notEqual", "r0", 0, FAILED).label("is v4 now");
}

function write(assembler: BpfAssembler, { headerBytes, tagBytes }: WireLengths): void {
  assembler.move("r4", headerBytes);
  storeBytes(assembler, 0, SCRATCH.headers);
  loadBounded(assembler, "r4", SCRATCH.textBytes, MAX_TEXT_BYTES, FAILED);
  assembler.alu("add", "r4", tagBytes);
  storeBytes(assembler, headerBytes, SCRATCH.text);
}
