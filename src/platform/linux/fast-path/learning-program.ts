import { FAMILIES, type Family } from "../../../core/model/address.ts";
import { BpfAssembler } from "../bpf/assembler.ts";
import { HELPER, PACKET_CONTEXT, VERDICT } from "../bpf/bpf-numbers.ts";
import {
  ETHERNET,
  FLOW_BYTES,
  HEADERS,
  KEY,
  LEASE,
  LEASE_NS,
  PURPOSE,
  TCP,
  TRAIL,
  VALUE,
} from "./layout.ts";
import {
  CONTEXT,
  deleteFlow,
  expectTcp,
  type FastMapDescriptors,
  lookUpFlow,
  lookUpOwn,
  NEXT,
  PACKET,
  pointToStack,
  STACK,
  sumUp,
  TCP_CONSTANTS,
  wordsOf,
} from "./program-parts.ts";

const NOTED = "r9";
const DROP = "drop";

/**
 * Sees what goes out by a link. Where that is the packet which this processor noted when it came, and the rules
 * have translated it, its connection may take the path for a while longer; or it is proposed, where it does not
 * take it yet. A processor that is given many at once notes the last of them: the others are learned of another time.
 */
export function learningProgram(maps: FastMapDescriptors): Uint8Array {
  const program = new BpfAssembler().move(CONTEXT, "r1");
  // Of this node itself.
  program.load(32, "r0", CONTEXT, PACKET_CONTEXT.cameBy).jumpIf("equal", "r0", 0, NEXT);
  lookUpOwn(program, maps.trail, NEXT);
  program.move(NOTED, "r0").load(32, "r0", NOTED, TRAIL.length);
  program.load(32, "r1", CONTEXT, PACKET_CONTEXT.byteCount).jumpIf("notEqual", "r0", "r1", NEXT);
  program.load(32, "r0", CONTEXT, PACKET_CONTEXT.hasVlan).jumpIf("notEqual", "r0", 0, NEXT);
  for (const family of FAMILIES) learn(program, family, maps);
  program.label(NEXT).move("r0", VERDICT.next).exit();
  return program.label(DROP).move("r0", VERDICT.drop).exit().assemble();
}

function learn(program: BpfAssembler, family: Family, maps: FastMapDescriptors): void {
  const here = (what: string): string => `${what} ${family}`;
  expectTcp(program, family, here("other"));
  expectNoted(program, family);
  program.store(32, NOTED, TRAIL.length, 0).load(32, "r0", NOTED, TRAIL.purpose);
  program.jumpIf("equal", "r0", PURPOSE.decoy, DROP);
  writeEnds(program, family);
  writeWay(program, maps);
  writeSums(program, family);
  // Without a check, which is not there yet.
  program.store(64, "r10", STACK.value + VALUE.check, 0);
  sumUp(program, family);
  program.store(64, "r10", STACK.value + VALUE.check, "r0");
  renewOrPropose(program, family, maps);
  program.label(here("other"));
}

function renewOrPropose(program: BpfAssembler, family: Family, maps: FastMapDescriptors): void {
  const here = (what: string): string => `${what} ${family}`;
  const taken = NOTED;
  lookUpFlow(program, maps.flows[family]);
  program.jumpIf("equal", "r0", 0, here("propose")).move(taken, "r0");
  program.load(64, "r1", taken, VALUE.check).load(64, "r2", "r10", STACK.value + VALUE.check);
  program.jumpIf("notEqual", "r1", "r2", here("another way"));
  program.call(HELPER.coarseNs).loadWide("r1", LEASE_NS).alu("add", "r0", "r1");
  program.store(64, taken, FLOW_BYTES[family].lease + LEASE.untilNs, "r0").jump(NEXT);

  // The rules, routes or neighbours are others than before: it is proposed again with its next packets.
  program.label(here("another way"));
  deleteFlow(program, maps.flows[family]);
  program.jump(NEXT);

  program.label(here("propose")).loadMap("r1", maps.seen[family]);
  pointToStack(program, "r2", STACK.key);
  pointToStack(program, "r3", STACK.value);
  program.move("r4", 0).call(HELPER.mapUpdate).jump(NEXT);
}

/** It is the packet that was noted, one hop further. */
function expectNoted(program: BpfAssembler, family: Family): void {
  const header = HEADERS[family];
  const expectSame = (at: number, noted: number): void => {
    program.load(32, "r0", PACKET, at).load(32, "r1", NOTED, noted);
    program.jumpIf("notEqual", "r0", "r1", NEXT);
  };
  program.load(32, "r0", NOTED, TRAIL.etherType).jumpIf("notEqual", "r0", header.etherType, NEXT);
  for (const [number, at] of header.constant.entries()) {
    expectSame(at, TRAIL.constant + 4 * number);
  }
  for (const what of TCP_CONSTANTS) expectSame(header.tcp + TCP[what], TRAIL[what]);
  program.load(8, "r0", PACKET, header.hops).alu("add", "r0", 1).load(32, "r1", NOTED, TRAIL.hops);
  program.jumpIf("notEqual", "r0", "r1", NEXT);
}

/** Both ends, as they came and as they go; nothing is learned where they are the same. */
function writeEnds(program: BpfAssembler, family: Family): void {
  const { tcp, addresses, addressBytes } = HEADERS[family];
  program.load(64, "r0", NOTED, TRAIL.key).store(64, "r10", STACK.key, "r0");
  program.load(32, "r0", PACKET, tcp + TCP.ports).store(32, "r10", STACK.value + VALUE.ports, "r0");
  program.load(32, "r1", NOTED, TRAIL.key + KEY.ports).alu("xor", "r0", "r1");
  for (const at of wordsOf(2 * addressBytes)) {
    program.load(64, "r1", PACKET, addresses + at);
    program.store(64, "r10", STACK.value + VALUE.addresses + at, "r1");
    program.load(64, "r2", NOTED, TRAIL.key + KEY.addresses + at);
    program.store(64, "r10", STACK.key + KEY.addresses + at, "r2");
    program.alu("xor", "r1", "r2").alu("or", "r0", "r1");
  }
  program.jumpIf("equal", "r0", 0, NEXT);
}

/** The link, from whom to whom on it, and what the kernel notes beside it. Links that are not ours have no MTU. */
function writeWay(program: BpfAssembler, maps: FastMapDescriptors): void {
  const put = (bits: 32 | 64, to: number) => program.store(bits, "r10", STACK.value + to, "r0");
  program.load(64, "r0", PACKET, ETHERNET.macs);
  put(64, VALUE.macs).load(32, "r0", PACKET, ETHERNET.macs + 8);
  put(32, VALUE.macs + 8).load(32, "r0", CONTEXT, PACKET_CONTEXT.link);
  put(32, VALUE.link).loadMap("r1", maps.mtus);
  pointToStack(program, "r2", STACK.value + VALUE.link);
  program.call(HELPER.mapLookup).jumpIf("equal", "r0", 0, NEXT).load(32, "r0", "r0", 0);
  put(32, VALUE.mtu).load(32, "r0", CONTEXT, PACKET_CONTEXT.mark);
  put(32, VALUE.mark).load(32, "r0", CONTEXT, PACKET_CONTEXT.priority);
  put(32, VALUE.priority);
}

function writeSums(program: BpfAssembler, family: Family): void {
  const difference = (from: number, to: number, bytes: number, into: number): void => {
    pointToStack(program, "r1", STACK.key + from);
    pointToStack(program, "r3", STACK.value + to);
    program.move("r2", bytes).move("r4", bytes).move("r5", 0).call(HELPER.checksumDifference);
    program.store(32, "r10", STACK.value + into, "r0");
  };
  const both = 2 * HEADERS[family].addressBytes;
  difference(KEY.addresses, VALUE.addresses, both, VALUE.addressSum);
  difference(KEY.ports, VALUE.ports, 4, VALUE.portSum);
}
