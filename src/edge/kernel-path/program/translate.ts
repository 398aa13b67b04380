import type { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import { HELPER } from "../../../platform/linux/bpf/bpf-numbers.ts";
import {
  ICMP_ID,
  PROTOCOL_ICMP,
  PROTOCOL_ICMP6,
  PROTOCOL_UDP,
  V4_CHECKSUM,
  V4_DESTINATION,
  V4_HEADER_BYTES,
  V4_SOURCE,
  V6_DESTINATION,
  V6_HEADER_BYTES,
  V6_SOURCE,
} from "../../../wire/ip/ip-numbers.ts";
import { FLOW_KEY, FLOW_VALUE, MAX_SHORT_BYTES } from "../layout.ts";
import { fold } from "./emit.ts";
import { SCRATCH } from "./scratch.ts";

const TRANSLATE = "translate";
const NO_CHECKSUM = "no checksum to keep";
const MEMORY = "r6";
/** Of what the checksum covers. */
const SUM = "r7";
/** Of the pseudo header (RFC 9293, 3.1; RFC 8200, 8.1), as the packet came. */
const PSEUDO = "r8";
/** Where the checksum is, less `SCRATCH.packet`. */
const FIELD_AT = "r9";
const MAX_CHECKSUM_AT = 56;
const PACKET: number = SCRATCH.packet;
const KEY: number = SCRATCH.flowKey;
const ENDS: number = SCRATCH.ends;
const V4_ADDRESS_AT = 12;

interface Family {
  readonly name: "v4" | "v6";
  readonly l4At: number;
  /** Where the words of addresses are in a FLOW_KEY. */
  readonly words: readonly number[];
}

const V4: Family = {
  name: "v4",
  l4At: V4_HEADER_BYTES,
  words: [FLOW_KEY.source + V4_ADDRESS_AT, FLOW_KEY.destination + V4_ADDRESS_AT],
};
const V6: Family = {
  name: "v6",
  l4At: V6_HEADER_BYTES,
  words: [0, 4, 8, 12, 16, 20, 24, 28].map((at) => FLOW_KEY.source + at),
};

/**
 * Gives the packet the ends of `ends`, and a checksum that is complete. r0 is 0 then; else the checksum was wrong, and
 * nothing is changed. One that covers the pseudo header only so far (`mayBePartial`) can not be told from a wrong
 * one otherwise than by its value: the context of a program does not say it.
 */
export function callTranslate(assembler: BpfAssembler, memory: "r7"): void {
  assembler.move("r1", memory).callLocal(TRANSLATE);
}

/** What `callTranslate` calls. */
export function emitTranslate(assembler: BpfAssembler): void {
  assembler.label(TRANSLATE).move(MEMORY, "r1");
  // The helper takes words of four bytes.
  assembler.load(32, "r2", MEMORY, SCRATCH.packetBytes);
  assembler.jumpIf("above", "r2", MAX_SHORT_BYTES, "wrong checksum").alu("add", "r2", MEMORY);
  assembler.store(32, "r2", PACKET, 0);
  assembler.load(32, FIELD_AT, MEMORY, SCRATCH.checksumAt);
  assembler.jumpIf("above", FIELD_AT, MAX_CHECKSUM_AT, "wrong checksum");
  assembler.alu("add", FIELD_AT, MEMORY).load(8, "r2", MEMORY, KEY + FLOW_KEY.isV6);
  assembler.jumpIf("notEqual", "r2", 0, "v6 sums");
  emitFamily(assembler, V4);
  emitFamily(assembler, V6);
  assembler.label("wrong checksum").move("r0", 1).exit();
}

function emitFamily(assembler: BpfAssembler, family: Family): void {
  const { name, l4At } = family;
  assembler.label(`${name} sums`);
  sumL4(assembler, family);
  sumPseudo(assembler, family);
  checkSum(assembler, family);
  renewSum(assembler, family);
  assembler.label(`${name} ${NO_CHECKSUM}`);
  putPorts(assembler, family, PACKET + l4At);
  if (name === "v4") putV4(assembler);
  else putV6(assembler);
  assembler.move("r0", 0).exit();
}

function sumL4(assembler: BpfAssembler, { l4At }: Family): void {
  assembler.load(32, "r4", MEMORY, SCRATCH.packetBytes).alu("subtract", "r4", l4At);
  assembler.alu("add", "r4", 3).alu("and", "r4", -4);
  assembler.jumpIf("above", "r4", MAX_SHORT_BYTES, "wrong checksum");
  assembler.move("r3", MEMORY).alu("add", "r3", PACKET + l4At);
  assembler.move("r1", 0).move("r2", 0).move("r5", 0).call(HELPER.checksumDifference);
  assembler.alu("move", SUM, "r0", 32);
}

/** That of ICMP has none. */
function sumPseudo(assembler: BpfAssembler, { name, l4At, words }: Family): void {
  assembler.move(PSEUDO, 0).load(8, "r2", MEMORY, KEY + FLOW_KEY.protocol);
  if (name === "v4") assembler.jumpIf("equal", "r2", PROTOCOL_ICMP, "v4 no pseudo header");
  assembler.load(32, PSEUDO, MEMORY, SCRATCH.packetBytes).alu("subtract", PSEUDO, l4At);
  assembler.swap("big", 16, PSEUDO).swap("big", 16, "r2").alu("add", PSEUDO, "r2");
  for (const word of words) {
    assembler.load(32, "r2", MEMORY, KEY + word).alu("add", PSEUDO, "r2");
  }
  if (name === "v4") assembler.label("v4 no pseudo header");
}

/** Goes on where it is right, or not complete yet. */
function checkSum(assembler: BpfAssembler, { name }: Family): void {
  assembler.load(16, "r4", FIELD_AT, PACKET).jumpIf("notEqual", "r4", 0, `${name} check`);
  assembler.load(8, "r2", MEMORY, KEY + FLOW_KEY.protocol);
  assembler.jumpIf("notEqual", "r2", PROTOCOL_UDP, `${name} check`);
  // 0 says that there is none, over IPv4 (RFC 768); over IPv6 it is for the tunnel to judge.
  assembler.jump(name === "v4" ? `${name} ${NO_CHECKSUM}` : "wrong checksum");
  assembler.label(`${name} check`).alu("add", SUM, PSEUDO).move("r2", SUM);
  fold(assembler, "r2", "r3");
  assembler.jumpIf("equal", "r2", 0xffff, `${name} is right`);
  assembler.load(32, "r2", MEMORY, SCRATCH.mayBePartial);
  assembler.jumpIf("equal", "r2", 0, "wrong checksum");
  fold(assembler, PSEUDO, "r3");
  assembler.jumpIf("notEqual", PSEUDO, "r4", "wrong checksum").label(`${name} is right`);
}

/** RFC 1624: what changes is taken from the sum, in the form of its complement, and what comes instead added. */
function renewSum(assembler: BpfAssembler, { name, words }: Family): void {
  assembler.alu("xor", "r4", 0xffff).alu("add", SUM, "r4");
  exchange(assembler, FLOW_KEY.sourcePort);
  if (name === "v4") {
    assembler.load(8, "r2", MEMORY, KEY + FLOW_KEY.protocol);
    assembler.jumpIf("equal", "r2", PROTOCOL_ICMP, "v4 renewed");
  }
  for (const word of words) exchange(assembler, word);
  if (name === "v4") assembler.label("v4 renewed");
  putSum(assembler, `${name} sum is put`, FIELD_AT, PACKET);
}

/** The field at the same place of `flowKey` and `ends`. */
function exchange(assembler: BpfAssembler, at: number): void {
  assembler
    .load(32, "r2", MEMORY, KEY + at)
    .alu("xor", "r2", -1, 32)
    .alu("add", SUM, "r2");
  assembler.load(32, "r2", MEMORY, ENDS + at).alu("add", SUM, "r2");
}

/** Both forms of 0 are right, but in UDP 0 says that there is none, and of an echo of zeros it is wrong. */
function putSum(assembler: BpfAssembler, done: string, register: "r6" | "r9", at: number): void {
  fold(assembler, SUM, "r2");
  assembler.alu("xor", SUM, 0xffff).jumpIf("notEqual", SUM, 0, done).move(SUM, 0xffff);
  assembler.label(done).store(16, register, at, SUM);
}

function putPorts(assembler: BpfAssembler, { name }: Family, l4: number): void {
  assembler.load(16, "r2", MEMORY, ENDS + FLOW_VALUE.sourcePort);
  assembler.load(16, "r3", MEMORY, ENDS + FLOW_VALUE.destinationPort);
  assembler.load(8, "r4", MEMORY, KEY + FLOW_KEY.protocol);
  const icmp = name === "v4" ? PROTOCOL_ICMP : PROTOCOL_ICMP6;
  assembler.jumpIf("equal", "r4", icmp, `${name} put identifier`);
  assembler.store(16, MEMORY, l4, "r2").store(16, MEMORY, l4 + 2, "r3");
  assembler.jump(`${name} ports are put`);
  // One of the two is 0: which, says who asks.
  assembler.label(`${name} put identifier`).alu("or", "r2", "r3");
  assembler.store(16, MEMORY, l4 + ICMP_ID, "r2").label(`${name} ports are put`);
}

function putV4(assembler: BpfAssembler): void {
  const at = PACKET + V4_CHECKSUM;
  assembler.load(16, SUM, MEMORY, at).alu("xor", SUM, 0xffff);
  for (const [field, to] of [
    [FLOW_VALUE.source, V4_SOURCE],
    [FLOW_VALUE.destination, V4_DESTINATION],
  ] as const) {
    exchange(assembler, field + V4_ADDRESS_AT);
    assembler.load(32, "r2", MEMORY, ENDS + field + V4_ADDRESS_AT);
    assembler.store(32, MEMORY, PACKET + to, "r2");
  }
  fold(assembler, SUM, "r2");
  assembler.alu("xor", SUM, 0xffff).store(16, MEMORY, at, SUM);
}

function putV6(assembler: BpfAssembler): void {
  for (const [field, to] of [
    [FLOW_VALUE.source, V6_SOURCE],
    [FLOW_VALUE.destination, V6_DESTINATION],
  ] as const) {
    for (const at of [0, 8]) {
      assembler.load(64, "r2", MEMORY, ENDS + field + at);
      assembler.store(64, MEMORY, PACKET + to + at, "r2");
    }
  }
}
