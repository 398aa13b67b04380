/** What both programs of the fast path do. */
import type { Family } from "../../../core/model/address.ts";
import { IPPROTO_TCP } from "../abi.ts";
import type { BpfAssembler } from "../bpf/assembler.ts";
import { HELPER, PACKET_CONTEXT } from "../bpf/bpf-numbers.ts";
import type { Register } from "../bpf/instruction.ts";
import { ETHERNET, FLOW_BYTES, FRAGMENT, HEADERS } from "./layout.ts";

/** Descriptors of the maps that the programs use. */
export interface FastMapDescriptors {
  /** Those that take the path; others decide which do. */
  readonly flows: Readonly<Record<Family, number>>;
  /** Those that could. */
  readonly seen: Readonly<Record<Family, number>>;
  /** Of the links that the programs are at. */
  readonly mtus: number;
  readonly trail: number;
  readonly counts: number;
}

export const CONTEXT = "r6";
export const PACKET = "r7";
const PACKET_END = "r8";
export const HOPS = "r9";
/** The kernel goes on with the packet, which is as it was. */
export const NEXT = "next";

/** Places on the stack, below `r10`; that of headers such that addresses and ports of both families are aligned. */
export const STACK = {
  zero: -8,
  key: -48,
  value: -128,
  header: -190,
  untilNs: -200,
  decoySequence: -204,
  decoyFlags: -206,
  entry: -216,
} as const;

/** What memory has in words of eight bytes. */
export function wordsOf(bytes: number): readonly number[] {
  return Array.from({ length: bytes / 8 }, (_, number) => 8 * number);
}

/** Words of TCP that nobody changes on the way. */
export const TCP_CONSTANTS = ["sequence", "acknowledged", "lengthAndWindow"] as const;

/** The packet can be read up to the end of its headers; else goes on at `short`. Uses r0. */
export function reach(program: BpfAssembler, family: Family, short: string): void {
  program.load(32, PACKET, CONTEXT, PACKET_CONTEXT.data);
  program.load(32, PACKET_END, CONTEXT, PACKET_CONTEXT.dataEnd);
  program.move("r0", PACKET).alu("add", "r0", HEADERS[family].bytes);
  program.jumpIf("above", "r0", PACKET_END, short);
}

/** It is TCP in whole packets of that family; else goes on at `other`. Uses r0. */
export function expectTcp(program: BpfAssembler, family: Family, other: string): void {
  const header = HEADERS[family];
  reach(program, family, other);
  program.load(16, "r0", PACKET, ETHERNET.type).jumpIf("notEqual", "r0", header.etherType, other);
  program.load(8, "r0", PACKET, header.first).alu("and", "r0", header.firstMask);
  program.jumpIf("notEqual", "r0", header.firstByte, NEXT);
  program.load(8, "r0", PACKET, header.protocol).jumpIf("notEqual", "r0", IPPROTO_TCP, NEXT);
  if (family === "v6") return;
  program.load(16, "r0", PACKET, FRAGMENT.at).jumpIf("anyBit", "r0", FRAGMENT.bits, NEXT);
}

export function pointToStack(program: BpfAssembler, register: Register, at: number): void {
  program.move(register, "r10").alu("add", register, at);
}

/** r0 is the place of the entry of this processor, or the program goes on at `absent`. */
export function lookUpOwn(program: BpfAssembler, map: number, absent: string): void {
  program.store(32, "r10", STACK.zero, 0).loadMap("r1", map);
  pointToStack(program, "r2", STACK.zero);
  program.call(HELPER.mapLookup).jumpIf("equal", "r0", 0, absent);
}

/** r0 is the place of what `map` has for the key on the stack, or 0. */
export function lookUpFlow(program: BpfAssembler, map: number): void {
  program.loadMap("r1", map);
  pointToStack(program, "r2", STACK.key);
  program.call(HELPER.mapLookup);
}

export function deleteFlow(program: BpfAssembler, map: number): void {
  program.loadMap("r1", map);
  pointToStack(program, "r2", STACK.key);
  program.call(HELPER.mapDelete);
}

/** Into r0: all words of the key and the value on the stack; 0 where the check among them is right. */
export function sumUp(program: BpfAssembler, family: Family): void {
  const { key, value } = FLOW_BYTES[family];
  const places = [
    ...wordsOf(value).map((at) => STACK.value + at),
    ...wordsOf(key).map((at) => STACK.key + at),
  ];
  program.move("r0", 0);
  for (const at of places) program.load(64, "r1", "r10", at).alu("xor", "r0", "r1");
}
