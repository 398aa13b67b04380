import type { Family } from "../../../core/model/address.ts";
import { IPPROTO_TCP } from "../abi.ts";
import { BpfAssembler } from "../bpf/assembler.ts";
import { HELPER } from "../bpf/bpf-numbers.ts";
import { ADDRESS_BYTES, COUNTER, FRONTEND, ORIGIN, PLACE_BYTES, SLOT } from "./layout.ts";

/** Descriptors of the maps that the programs use. */
export interface DirectMapDescriptors {
  readonly namespace: number;
  readonly frontends: number;
  readonly slots: number;
  readonly origins: number;
  readonly counters: number;
}

/** Fields of struct bpf_sock_addr, what these programs are given: linux/bpf.h. */
const CONTEXT = { address: { v4: 4, v6: 8 }, port: 24, protocol: 36, socket: 64 } as const;
/** Fields of struct bpf_sock: the address that a socket is bound to. */
const SOURCE = { v4: 24, v6: 28 } as const;

const WORD_BYTES = 4;
/** The word of a place that holds an IPv4 address; the one before it tells that it is one. */
const V4_WORD = 12;
const MAPPED_WORD = 8;
/** `00 00 ff ff` */
const MAPPED = 0xffff_0000;
const PORT_WORD = ADDRESS_BYTES;

/** Places on the stack, below `r10`. The origin of a socket is written as a whole. */
const STACK = {
  asked: -ORIGIN.valueBytes,
  given: -ORIGIN.valueBytes + ORIGIN.given,
  slotKey: -48,
  cookie: -56,
  index: -60,
} as const;

/** Processes of this node: in its network namespace, or in those of workloads. */
export type Callers = "node" | "workloads";

/** Allows the call, changed or not. */
const GO_ON = 1;

/**
 * Runs at connect(2): who calls the address of a service by TCP is sent to one of its endpoints. Left
 * alone are who calls from the namespace of others, what no list is there for, and sockets that are bound to
 * an address: whether that has to be masqueraded is known to the rules only.
 */
export function connectProgram(
  family: Family,
  maps: DirectMapDescriptors,
  callers: Callers,
): Uint8Array {
  const program = new BpfAssembler().move("r6", "r1");
  program.load(32, "r1", "r6", CONTEXT.protocol).jumpIf("notEqual", "r1", IPPROTO_TCP, "leave");
  leaveOtherCallers(program, maps, callers);
  leaveBound(program, family);
  writeAsked(program, family);
  lookUp(program, maps.frontends, STACK.asked).jumpIf("equal", "r0", 0, "unchanged");
  program.load(32, "r7", "r0", FRONTEND.list).load(32, "r8", "r0", FRONTEND.slotCount);
  chooseSlot(program, maps);
  copyGiven(program);
  checkList(program, maps);
  rememberOrigin(program, maps);
  writeContext(program, family, "r10", STACK.given);
  count(program, maps, COUNTER.translated, "leave");
  program.jump("leave").label("missed");
  count(program, maps, COUNTER.missed, "unchanged");
  program.label("unchanged");
  forgetOrigin(program, maps);
  return program.label("leave").move("r0", GO_ON).exit().assemble();
}

/** Runs at getpeername(2): who was sent elsewhere is told the address that it asked for. */
export function peerNameProgram(family: Family, maps: DirectMapDescriptors): Uint8Array {
  const program = new BpfAssembler().move("r6", "r1").call(HELPER.socketCookie);
  program.store(64, "r10", STACK.cookie, "r0");
  lookUp(program, maps.origins, STACK.cookie).jumpIf("equal", "r0", 0, "leave").move("r7", "r0");
  // A program of somebody else may have sent it elsewhere.
  for (const [inContext, inPlace] of contextWords(family)) {
    program
      .load(32, "r1", "r6", inContext)
      .load(32, "r2", "r7", ORIGIN.given + inPlace)
      .jumpIf("notEqual", "r1", "r2", "leave");
  }
  writeContext(program, family, "r7", ORIGIN.asked);
  return program.label("leave").move("r0", GO_ON).exit().assemble();
}

/** No socket is of both: who was led once must not be taken for one that calls an endpoint by itself. */
function leaveOtherCallers(
  program: BpfAssembler,
  { namespace }: DirectMapDescriptors,
  callers: Callers,
): void {
  program.move("r1", "r6").call(HELPER.namespaceCookie).move("r7", "r0");
  program.store(32, "r10", STACK.index, 0);
  lookUp(program, namespace, STACK.index)
    .jumpIf("equal", "r0", 0, "leave")
    .load(64, "r1", "r0", 0)
    .jumpIf(callers === "node" ? "notEqual" : "equal", "r1", "r7", "leave");
}

function leaveBound(program: BpfAssembler, family: Family): void {
  program.load(64, "r1", "r6", CONTEXT.socket);
  for (let word = 0; word < addressBytes(family); word += WORD_BYTES) {
    program.load(32, "r2", "r1", SOURCE[family] + word).jumpIf("notEqual", "r2", 0, "unchanged");
  }
}

function writeAsked(program: BpfAssembler, family: Family): void {
  if (family === "v4") {
    program.store(64, "r10", STACK.asked, 0).store(32, "r10", STACK.asked + MAPPED_WORD, MAPPED);
  }
  for (const [inContext, inPlace] of contextWords(family)) {
    program.load(32, "r1", "r6", inContext).store(32, "r10", STACK.asked + inPlace, "r1");
  }
}

/** From the list in `r7`, which has as many slots as `r8` says; `r9` points at the place then. */
function chooseSlot(program: BpfAssembler, { slots }: DirectMapDescriptors): void {
  program.call(HELPER.random).alu("move", "r0", "r0", 32);
  // The upper half of the product is as evenly spread as the number was, below the count.
  program.alu("multiply", "r0", "r8").alu("shiftRight", "r0", 32);
  program
    .store(32, "r10", STACK.slotKey + SLOT.list, "r7")
    .store(32, "r10", STACK.slotKey + SLOT.slot, "r0");
  lookUp(program, slots, STACK.slotKey).jumpIf("equal", "r0", 0, "missed").move("r9", "r0");
  program
    .call(HELPER.random)
    .load(32, "r1", "r9", SLOT.threshold)
    .jumpIf("below", "r0", "r1", "first", 32)
    .alu("add", "r9", SLOT.other - SLOT.first)
    .label("first")
    .alu("add", "r9", SLOT.first);
}

function copyGiven(program: BpfAssembler): void {
  for (let word = 0; word < PLACE_BYTES; word += WORD_BYTES) {
    program.load(32, "r1", "r9", word).store(32, "r10", STACK.given + word, "r1");
  }
}

/**
 * The memory of an entry that is removed may be another one's at once, also while it is read. Slots go only after
 * their address leads elsewhere: where it still leads to this list, all that was read is of it.
 */
function checkList(program: BpfAssembler, { frontends }: DirectMapDescriptors): void {
  lookUp(program, frontends, STACK.asked)
    .jumpIf("equal", "r0", 0, "missed")
    .load(32, "r1", "r0", FRONTEND.list)
    .jumpIf("notEqual", "r1", "r7", "missed", 32);
}

function rememberOrigin(program: BpfAssembler, { origins }: DirectMapDescriptors): void {
  program.move("r1", "r6").call(HELPER.socketCookie).store(64, "r10", STACK.cookie, "r0");
  addresses(program, origins, STACK.cookie);
  program.move("r3", "r10").alu("add", "r3", STACK.asked).move("r4", 0).call(HELPER.mapUpdate);
}

/** It may have been connected before, and may call now the very endpoint that it was given then. */
function forgetOrigin(program: BpfAssembler, { origins }: DirectMapDescriptors): void {
  program.move("r1", "r6").call(HELPER.socketCookie).store(64, "r10", STACK.cookie, "r0");
  addresses(program, origins, STACK.cookie).call(HELPER.mapDelete);
}

function writeContext(
  program: BpfAssembler,
  family: Family,
  from: "r7" | "r10",
  place: number,
): void {
  for (const [inContext, inPlace] of contextWords(family)) {
    program.load(32, "r1", from, place + inPlace).store(32, "r6", inContext, "r1");
  }
}

function count(
  program: BpfAssembler,
  { counters }: DirectMapDescriptors,
  index: number,
  absent: string,
): void {
  program.store(32, "r10", STACK.index, index);
  lookUp(program, counters, STACK.index)
    .jumpIf("equal", "r0", 0, absent)
    .move("r1", 1)
    .atomic("add", 64, "r0", 0, "r1");
}

/** What a map has for the key that is on the stack: in `r0`. */
function lookUp(program: BpfAssembler, map: number, key: number): BpfAssembler {
  return addresses(program, map, key).call(HELPER.mapLookup);
}

function addresses(program: BpfAssembler, map: number, key: number): BpfAssembler {
  return program.loadMap("r1", map).move("r2", "r10").alu("add", "r2", key);
}

/** Where the words of an address and the port are, there and in a place. */
function contextWords(family: Family): readonly (readonly [number, number])[] {
  const first = family === "v4" ? V4_WORD : 0;
  const words: [number, number][] = [[CONTEXT.port, PORT_WORD]];
  for (let word = 0; word < addressBytes(family); word += WORD_BYTES) {
    words.push([CONTEXT.address[family] + word, first + word]);
  }
  return words;
}

function addressBytes(family: Family): number {
  return family === "v4" ? WORD_BYTES : ADDRESS_BYTES;
}
