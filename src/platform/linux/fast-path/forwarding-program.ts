import { FAMILIES, type Family } from "../../../core/model/address.ts";
import { BpfAssembler } from "../bpf/assembler.ts";
import { HELPER, PACKET_CONTEXT, VERDICT } from "../bpf/bpf-numbers.ts";
import { endFlow } from "./end-flow.ts";
import {
  COUNTS,
  ETHERNET,
  FLOW_BYTES,
  HEADERS,
  KEY,
  LEASE,
  PURPOSE,
  TCP,
  TURNING_FLAGS,
  V4_CHECKSUM,
  VALUE,
} from "./layout.ts";
import { notePacket } from "./note-packet.ts";
import {
  CONTEXT,
  expectTcp,
  type FastMapDescriptors,
  HOPS,
  lookUpFlow,
  lookUpOwn,
  NEXT,
  PACKET,
  pointToStack,
  reach,
  STACK,
  sumUp,
  wordsOf,
} from "./program-parts.ts";

/** The packet is half changed, which the kernel gives no reason for. */
const BROKEN = "broken";
/** BPF_F_PSEUDO_HDR: the sum has the addresses already where the rest of it is left to the card. */
const PSEUDO_HEADER = 0x10;
/** One less, as a sum of words has it: of the low byte of a word, and of the high one. */
const ONE_LESS_LOW = 0xfffe;
const ONE_LESS_HIGH = 0xfeff;
/** More than is on its way at a time. */
const A_LITTLE = 1 << 24;
/** A power of two: short connections are over before they are proposed. */
const PROPOSED_ONE_OF = 8;

/**
 * Sees what comes in by a link. A packet of a connection that takes the path is changed as the rules changed
 * those before it, and sent out where these went. Whatever else comes goes by the rules; some of it is noted,
 * so that the learning program knows it again.
 */
export function forwardingProgram(maps: FastMapDescriptors): Uint8Array {
  const program = new BpfAssembler().move(CONTEXT, "r1");
  program.load(32, "r0", CONTEXT, PACKET_CONTEXT.packetType).jumpIf("notEqual", "r0", 0, NEXT);
  program.load(32, "r0", CONTEXT, PACKET_CONTEXT.hasVlan).jumpIf("notEqual", "r0", 0, NEXT);
  for (const family of FAMILIES) forward(program, family, maps);
  program.label(NEXT).move("r0", VERDICT.next).exit();
  return program.label(BROKEN).move("r0", VERDICT.drop).exit().assemble();
}

function forward(program: BpfAssembler, family: Family, maps: FastMapDescriptors): void {
  const header = HEADERS[family];
  const here = (what: string): string => `${what} ${family}`;
  expectTcp(program, family, here("other"));
  program.load(8, HOPS, PACKET, header.hops).jumpIf("belowOrEqual", HOPS, 1, NEXT);
  writeKey(program, family);
  program.load(8, "r0", PACKET, header.tcp + TCP.flags);
  program.jumpIf("anyBit", "r0", TURNING_FLAGS, here("turning"));
  lookUpFlow(program, maps.flows[family]);
  program.jumpIf("equal", "r0", 0, here("unknown"));
  readFlow(program, family, here("unknown"));
  keepUp(program, family, here("note"));
  expectLease(program, here("note"));
  leaveTooLong(program, family, here("whole"));
  changeSums(program, family, here("same ports"));
  changeHeaders(program, family);
  send(program, maps, here("counted"));

  program.label(here("turning"));
  endFlow(program, family, maps);

  program.label(here("unknown")).call(HELPER.random);
  program.jumpIf("anyBit", "r0", PROPOSED_ONE_OF - 1, NEXT);
  program.label(here("note"));
  notePacket(program, family, maps, PURPOSE.learn);
  program.jump(NEXT).label(here("other"));
}

function writeKey(program: BpfAssembler, family: Family): void {
  const { tcp, addresses, addressBytes } = HEADERS[family];
  const put = (bits: 32 | 64, to: number) => program.store(bits, "r10", STACK.key + to, "r0");
  program.load(32, "r0", CONTEXT, PACKET_CONTEXT.link);
  put(32, KEY.link).load(32, "r0", PACKET, tcp + TCP.ports);
  put(32, KEY.ports);
  for (const at of wordsOf(2 * addressBytes)) {
    program.load(64, "r0", PACKET, addresses + at);
    put(64, KEY.addresses + at);
  }
}

/**
 * Where the connection is, for when it ends or rests. Goes on at `again` with what was said before: it may be that it
 * did not arrive by the path, so the rules are given it.
 */
function keepUp(program: BpfAssembler, family: Family, again: string): void {
  const { length, lengthFrom, tcp } = HEADERS[family];
  const { lease } = FLOW_BYTES[family];
  const [known, isNew] = [`length ${family}`, `new ${family}`];
  program.load(64, "r0", "r10", STACK.entry);
  program.load(32, "r1", PACKET, tcp + TCP.acknowledged).swap("big", 32, "r1");
  advance(program, lease + LEASE.acknowledged, `acknowledged ${family}`);
  program.load(16, "r1", PACKET, length).swap("big", 16, "r1").jumpIf("notEqual", "r1", 0, known);
  // More than its two bytes can say. (Else the kernel may count bytes behind the packet, that fill a frame.)
  program.load(32, "r1", CONTEXT, PACKET_CONTEXT.byteCount).alu("subtract", "r1", lengthFrom);
  program.label(known);
  program.load(8, "r2", PACKET, tcp + TCP.lengthAndWindow).alu("shiftRight", "r2", 4);
  program.alu("shiftLeft", "r2", 2).alu("subtract", "r1", "r2");
  program.alu("add", "r1", lengthFrom - tcp).move("r4", "r1");
  program
    .load(32, "r2", PACKET, tcp + TCP.sequence)
    .swap("big", 32, "r2")
    .alu("add", "r1", "r2", 32);
  program.jumpIf("equal", "r4", 0, isNew).load(32, "r2", "r0", lease + LEASE.end);
  program.jumpIf("equal", "r2", 0, isNew).alu("subtract", "r2", "r1", 32);
  program.jumpIf("belowOrEqual", "r2", A_LITTLE, again).label(isNew);
  advance(program, lease + LEASE.end, `end ${family}`);
}

/**
 * The sequence number r1 is written to the entry r0 where it is a little ahead: what is sent again, or asks whether
 * the other end is there, does not lead back; and who only guesses the ends does not lead away.
 */
function advance(program: BpfAssembler, at: number, label: string): void {
  program.load(32, "r2", "r0", at).jumpIf("equal", "r2", 0, `first ${label}`);
  program.move("r3", "r1").alu("subtract", "r3", "r2", 32);
  program.jumpIf("above", "r3", A_LITTLE, label);
  program.label(`first ${label}`).store(32, "r0", at, "r1").label(label);
}

/** The value of the entry r0 is on the stack; goes on at `unknown` where that is of another connection. */
function readFlow(program: BpfAssembler, family: Family, unknown: string): void {
  const { value, lease } = FLOW_BYTES[family];
  program.store(64, "r10", STACK.entry, "r0").load(64, "r1", "r0", lease + LEASE.untilNs);
  program.store(64, "r10", STACK.untilNs, "r1");
  // The place of an entry that goes may be given to another one at once.
  for (const at of wordsOf(value)) {
    program.load(64, "r1", "r0", at).store(64, "r10", STACK.value + at, "r1");
  }
  sumUp(program, family);
  program.jumpIf("notEqual", "r0", 0, unknown);
}

/** Goes on at `ended` where the rules are to be asked again. */
function expectLease(program: BpfAssembler, ended: string): void {
  program.call(HELPER.coarseNs).load(64, "r1", "r10", STACK.untilNs);
  program.jumpIf("aboveOrEqual", "r0", "r1", ended);
}

/** The rules tell who sends more than the link takes; that may be what it will be cut into. */
function leaveTooLong(program: BpfAssembler, family: Family, whole: string): void {
  const { tcp } = HEADERS[family];
  program.load(32, "r0", CONTEXT, PACKET_CONTEXT.byteCount).alu("subtract", "r0", ETHERNET.bytes);
  program.load(32, "r1", CONTEXT, PACKET_CONTEXT.gsoBytes).jumpIf("equal", "r1", 0, whole);
  program.load(8, "r0", PACKET, tcp + TCP.lengthAndWindow).alu("shiftRight", "r0", 4);
  program
    .alu("shiftLeft", "r0", 2)
    .alu("add", "r0", "r1")
    .alu("add", "r0", tcp - ETHERNET.bytes);
  program.label(whole).load(32, "r1", "r10", STACK.value + VALUE.mtu);
  program.jumpIf("above", "r0", "r1", NEXT);
}

function changeSums(program: BpfAssembler, family: Family, samePorts: string): void {
  const replace = (flags: number): void => {
    program.move("r1", CONTEXT).move("r2", HEADERS[family].tcp + TCP.checksum);
    program.move("r3", 0).move("r5", flags).call(HELPER.replaceSum);
  };
  program.load(32, "r4", "r10", STACK.value + VALUE.addressSum);
  replace(PSEUDO_HEADER);
  program.load(32, "r4", "r10", STACK.value + VALUE.portSum).jumpIf("equal", "r4", 0, samePorts);
  replace(0);
  program.label(samePorts);
  if (family === "v4") return;
  // A card's sum of the whole packet: IPv6 has none of its header that would make up for what changes there.
  program.move("r1", CONTEXT).load(32, "r2", "r10", STACK.value + VALUE.addressSum);
  program.alu("add", "r2", ONE_LESS_HIGH).move("r3", "r2").alu("shiftRight", "r3", 32);
  program.alu("add", "r2", "r3", 32).call(HELPER.updateSum);
}

/**
 * All up to the ports in one piece, by a helper: for a program that writes to packets itself the kernel makes
 * room to write in every packet that comes, also where it is left alone.
 */
function changeHeaders(program: BpfAssembler, family: Family): void {
  const { tcp, addresses, addressBytes, hops } = HEADERS[family];
  const copy = (bits: 16 | 32, from: number, to: number): void => {
    program.load(bits, "r0", "r10", STACK.value + from).store(bits, "r10", STACK.header + to, "r0");
  };
  reach(program, family, BROKEN);
  for (let at = ETHERNET.type; at < addresses; at += 2) {
    program.load(16, "r0", PACKET, at).store(16, "r10", STACK.header + at, "r0");
  }
  for (let at = 0; at < ETHERNET.type; at += 2) copy(16, VALUE.macs + at, ETHERNET.macs + at);
  for (let at = 0; at < 2 * addressBytes; at += 4) copy(32, VALUE.addresses + at, addresses + at);
  copy(32, VALUE.ports, tcp + TCP.ports);
  program.alu("subtract", HOPS, 1).store(8, "r10", STACK.header + hops, HOPS);
  if (family === "v4") changeHeaderSum(program);
  program.move("r1", CONTEXT).move("r2", 0);
  pointToStack(program, "r3", STACK.header);
  program
    .move("r4", tcp + TCP.sequence)
    .move("r5", 0)
    .call(HELPER.storeBytes);
  program.jumpIf("notEqual", "r0", 0, BROKEN);
}

function changeHeaderSum(program: BpfAssembler): void {
  program.load(16, "r0", PACKET, V4_CHECKSUM).alu("xor", "r0", 0xffff);
  program.load(32, "r1", "r10", STACK.value + VALUE.addressSum).alu("add", "r0", "r1");
  program.alu("add", "r0", ONE_LESS_LOW);
  // Of 33 bits to 18, to 17, to 16.
  for (let time = 0; time < 3; time += 1) {
    program.move("r1", "r0").alu("shiftRight", "r1", 16).alu("and", "r0", 0xffff);
    program.alu("add", "r0", "r1");
  }
  program.alu("xor", "r0", 0xffff).store(16, "r10", STACK.header + V4_CHECKSUM, "r0");
}

/** By the link that the rules chose, with what they noted beside it. */
function send(program: BpfAssembler, maps: FastMapDescriptors, counted: string): void {
  const copy = (from: number, to: number) => {
    program.load(32, "r0", "r10", STACK.value + from).store(32, CONTEXT, to, "r0");
  };
  copy(VALUE.mark, PACKET_CONTEXT.mark);
  copy(VALUE.priority, PACKET_CONTEXT.priority);
  lookUpOwn(program, maps.counts, counted);
  program.load(64, "r1", "r0", COUNTS.passed).alu("add", "r1", 1);
  program.store(64, "r0", COUNTS.passed, "r1").label(counted);
  program.load(32, "r1", "r10", STACK.value + VALUE.link).move("r2", 0);
  program.call(HELPER.redirect).exit();
}
