import type { Family } from "../../../core/model/address.ts";
import type { BpfAssembler } from "../bpf/assembler.ts";
import { HELPER, PACKET_CONTEXT } from "../bpf/bpf-numbers.ts";
import { FLOW_BYTES, HEADERS, LEASE, PURPOSE, TCP, TCP_FLAG } from "./layout.ts";
import { notePacket } from "./note-packet.ts";
import {
  CONTEXT,
  deleteFlow,
  type FastMapDescriptors,
  lookUpFlow,
  NEXT,
  PACKET,
  pointToStack,
  reach,
  STACK,
} from "./program-parts.ts";

/** BPF_F_INGRESS: as if it came by that link. */
const TO_INGRESS = 1;
/** So far behind that nobody takes it for the next byte, should it get away. */
const LONG_AGO = 1 << 30;

/**
 * The next connection of the same ends may be led elsewhere, so this one is forgotten. Where it is reset, tracking
 * would take that for an attack, as it missed what was said last, and lead the next one of the same ends where
 * this one went. What it takes for an end is a FIN, however old; so it is shown one, which goes no further, and the
 * reset comes behind it.
 */
export function endFlow(program: BpfAssembler, family: Family, maps: FastMapDescriptors): void {
  const { tcp } = HEADERS[family];
  const { lease } = FLOW_BYTES[family];
  const forget = `forget ${family}`;
  program.load(8, "r0", PACKET, tcp + TCP.flags).alu("and", "r0", TCP_FLAG.rst);
  program.jumpIf("equal", "r0", 0, forget);
  lookUpFlow(program, maps.flows[family]);
  program.jumpIf("equal", "r0", 0, NEXT);
  // Of who does not know where the connection is, its ends make nothing: nor does tracking.
  program.load(32, "r1", "r0", lease + LEASE.end).load(32, "r2", PACKET, tcp + TCP.sequence);
  program.swap("big", 32, "r2").jumpIf("notEqual", "r1", "r2", forget);
  program.move("r1", CONTEXT).load(32, "r2", CONTEXT, PACKET_CONTEXT.link).move("r3", TO_INGRESS);
  program.call(HELPER.cloneRedirect).jumpIf("notEqual", "r0", 0, forget);
  turnIntoFin(program, family, forget);
  reach(program, family, forget);
  deleteFlow(program, maps.flows[family]);
  notePacket(program, family, maps, PURPOSE.decoy);
  program.jump(NEXT).label(forget);
  deleteFlow(program, maps.flows[family]);
  program.jump(NEXT);
}

function turnIntoFin(program: BpfAssembler, family: Family, forget: string): void {
  const { tcp } = HEADERS[family];
  const flagsAt = tcp + TCP.lengthAndWindow;
  const sequenceAt = tcp + TCP.sequence;
  // r3: before, r4: after.
  const replace = (bytes: number): void => {
    program
      .move("r1", CONTEXT)
      .move("r2", tcp + TCP.checksum)
      .move("r5", bytes);
    program.call(HELPER.replaceSum);
  };
  const write = (at: number, from: number, bytes: number): void => {
    program.move("r1", CONTEXT).move("r2", at);
    pointToStack(program, "r3", from);
    program.move("r4", bytes).move("r5", 0).call(HELPER.storeBytes);
  };
  reach(program, family, forget);
  program.load(32, "r3", PACKET, sequenceAt).move("r4", "r3").swap("big", 32, "r4");
  program.alu("subtract", "r4", LONG_AGO, 32).swap("big", 32, "r4");
  program.store(32, "r10", STACK.decoySequence, "r4");
  replace(4);
  reach(program, family, forget);
  program.load(16, "r3", PACKET, flagsAt).move("r4", "r3").alu("and", "r4", 0xff);
  program.alu("or", "r4", (TCP_FLAG.fin | TCP_FLAG.ack) << 8);
  program.store(16, "r10", STACK.decoyFlags, "r4");
  replace(2);
  write(sequenceAt, STACK.decoySequence, 4);
  write(flagsAt, STACK.decoyFlags, 2);
}
