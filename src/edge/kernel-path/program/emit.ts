/** What both programs do again and again. */
import type { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import { HELPER, PACKET_CONTEXT, VERDICT } from "../../../platform/linux/bpf/bpf-numbers.ts";
import type { Register } from "../../../platform/linux/bpf/instruction.ts";
import { COUNTS, type KernelPathMaps, SETTING } from "../layout.ts";
import { CONTEXT, MEMORY, RECORD_AT, SCRATCH } from "./scratch.ts";

/** The tunnel sees to the packet, which is as it was. */
export const NEXT = "next";
/** Not genuine, or come before: dropped. */
export const REFUSED = "refused";
/** The kernel did not give the room: the packet is half of something, and dropped. */
export const FAILED = "failed";

/** IPv4 and eight bytes, as UDP and echoes have at least. */
export const MIN_PACKET_BYTES = 28;

const NUMBER_AT = -4;
/** BPF_ADJ_ROOM_MAC: behind the header of Ethernet, where there is one. */
const ADJUST_AT_MAC = 1;

/** r0 is the place of the value, or the program goes on at `absent`. `keyAt`: in the scratch memory. */
export function lookUp(
  assembler: BpfAssembler,
  map: number,
  keyAt: number,
  absent: string = NEXT,
): void {
  assembler.loadMap("r1", map).move("r2", MEMORY).alu("add", "r2", keyAt);
  assembler.call(HELPER.mapLookup).jumpIf("equal", "r0", 0, absent);
}

/** The same by a number that is known. */
function lookUpNumber(assembler: BpfAssembler, map: number, number: number): void {
  assembler.store(32, "r10", NUMBER_AT, number).loadMap("r1", map).move("r2", "r10");
  assembler.alu("add", "r2", NUMBER_AT).call(HELPER.mapLookup).jumpIf("equal", "r0", 0, NEXT);
}

/** Where the parts of a PEER_VALUE or SENDER_VALUE are, and in the scratch memory what it was found by. */
export interface WayParts {
  readonly record: number;
  readonly check: number;
  readonly keyAt: number;
  readonly keyBytes: number;
}

/** `way` is a copy of what r0 is the place of, and `RECORD_AT` the record that it names. Uses r1 and r2. */
export function loadWay(assembler: BpfAssembler, maps: KernelPathMaps, parts: WayParts): void {
  const { record, check, keyAt, keyBytes } = parts;
  // The sum of all words of the copy, its check among them, and of the key.
  assembler.move("r2", 0);
  for (let at = 0; at <= check; at += 8) {
    assembler.load(64, "r1", "r0", at).store(64, MEMORY, SCRATCH.way + at, "r1");
    assembler.alu("xor", "r2", "r1");
  }
  for (let at = 0; at < keyBytes; at += 8) {
    assembler.load(keyBytes - at < 8 ? 32 : 64, "r1", MEMORY, keyAt + at).alu("xor", "r2", "r1");
  }
  assembler.jumpIf("notEqual", "r2", 0, NEXT);
  assembler.load(32, "r1", MEMORY, SCRATCH.way + record).store(32, MEMORY, SCRATCH.number, "r1");
  lookUp(assembler, maps.records, SCRATCH.number);
  assembler.move(RECORD_AT, "r0");
}

/** A program begins: with its context and memory, and the setting in r8. */
export function emitStart(assembler: BpfAssembler, maps: KernelPathMaps, scratch: number): void {
  assembler.move(CONTEXT, "r1");
  lookUpNumber(assembler, maps.setting, 0);
  assembler.move("r8", "r0").load(32, "r1", "r8", SETTING.isOn);
  assembler.jumpIf("equal", "r1", 0, NEXT);
  lookUpNumber(assembler, maps.scratch, scratch);
  assembler.move(MEMORY, "r0");
}

/** Reads the clock once for a packet. */
export function emitNow(assembler: BpfAssembler): void {
  assembler.call(HELPER.monotonicNs).store(64, MEMORY, SCRATCH.nowNs, "r0");
}

/** Where a datagram ends that is refused. */
export function emitRefused(assembler: BpfAssembler, maps: KernelPathMaps): void {
  assembler.label(REFUSED);
  count(assembler, maps, COUNTS.refused, "refused counted");
  assembler.move("r0", VERDICT.drop).exit();
}

/** Where a packet ends that does not take the whole way. */
export function emitEnds(assembler: BpfAssembler, maps: KernelPathMaps): void {
  assembler.label(FAILED);
  count(assembler, maps, COUNTS.failed, "failed counted");
  assembler.move("r0", VERDICT.drop).exit();
  assembler.label(NEXT).move("r0", VERDICT.next).exit();
}

/** `done`: a label that nothing else has. */
export function count(
  assembler: BpfAssembler,
  maps: KernelPathMaps,
  which: number,
  done: string,
): void {
  assembler.store(32, "r10", NUMBER_AT, which).loadMap("r1", maps.counts).move("r2", "r10");
  assembler.alu("add", "r2", NUMBER_AT).call(HELPER.mapLookup).jumpIf("equal", "r0", 0, done);
  assembler.load(64, "r1", "r0", 0).alu("add", "r1", 1).store(64, "r0", 0, "r1").label(done);
}

/** In the record of the session; the tunnel counts there, too. */
export function countPacket(assembler: BpfAssembler, packetsAt: number, bytesAt: number): void {
  assembler.move("r1", 1).atomic("add", 64, RECORD_AT, packetsAt, "r1");
  assembler.load(32, "r1", MEMORY, SCRATCH.packetBytes);
  assembler.atomic("add", 64, RECORD_AT, bytesAt, "r1");
}

/** Makes r2 bytes more room before the packet, or less, with flags in r4. */
export function adjustRoom(assembler: BpfAssembler): void {
  assembler.move("r1", CONTEXT).move("r3", ADJUST_AT_MAC).call(HELPER.adjustRoom);
  assembler.jumpIf("notEqual", "r0", 0, FAILED);
}

/** Into the scratch memory; whole words of 8 bytes. Uses r1. */
export function copyToScratch(
  assembler: BpfAssembler,
  from: Register,
  fromAt: number,
  toAt: number,
  byteCount: number,
): void {
  for (let at = 0; at < byteCount; at += 8) {
    assembler.load(64, "r1", from, fromAt + at).store(64, MEMORY, toAt + at, "r1");
  }
}

/** Reads so many bytes of the packet, from `at` on, into the scratch memory. The number is in r4. */
export function loadBytes(assembler: BpfAssembler, at: number, toAt: number): void {
  assembler.move("r1", CONTEXT).move("r2", at).move("r3", MEMORY).alu("add", "r3", toAt);
  assembler.call(HELPER.loadBytes).jumpIf("notEqual", "r0", 0, NEXT);
}

/** Writes so many bytes from the scratch memory into the packet. The number is in r4. */
export function storeBytes(assembler: BpfAssembler, at: number, fromAt: number): void {
  assembler.move("r1", CONTEXT).move("r2", at).move("r3", MEMORY).alu("add", "r3", fromAt);
  assembler.move("r5", 0).call(HELPER.storeBytes).jumpIf("notEqual", "r0", 0, FAILED);
}

/** A number that was checked before, for the verifier, which does not know any more. */
export function loadBounded(
  assembler: BpfAssembler,
  into: Register,
  fieldAt: number,
  most: number,
  otherwise: string,
): void {
  assembler.load(32, into, MEMORY, fieldAt).jumpIf("above", into, most, otherwise);
  assembler.jumpIf("equal", into, 0, otherwise);
}

export function loadPacketBytes(assembler: BpfAssembler, into: Register): void {
  assembler.load(32, into, CONTEXT, PACKET_CONTEXT.byteCount);
}

/** The sum of 16-bit words so far, in 16 bits (RFC 1071); `sum` is below 2^48. */
export function fold(assembler: BpfAssembler, sum: Register, spare: Register): void {
  for (let step = 0; step < 3; step += 1) {
    assembler.move(spare, sum).alu("shiftRight", spare, 16);
    assembler.alu("and", sum, 0xffff).alu("add", sum, spare);
  }
}
