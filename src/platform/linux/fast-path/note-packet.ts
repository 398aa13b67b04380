import type { Family } from "../../../core/model/address.ts";
import type { BpfAssembler } from "../bpf/assembler.ts";
import { PACKET_CONTEXT } from "../bpf/bpf-numbers.ts";
import { FLOW_BYTES, HEADERS, TCP, TRAIL } from "./layout.ts";
import {
  CONTEXT,
  type FastMapDescriptors,
  HOPS,
  lookUpOwn,
  NEXT,
  PACKET,
  STACK,
  TCP_CONSTANTS,
  wordsOf,
} from "./program-parts.ts";

/** What this processor takes through the rules now, with the key on the stack. @param purpose of `PURPOSE` */
export function notePacket(
  program: BpfAssembler,
  family: Family,
  maps: FastMapDescriptors,
  purpose: number,
): void {
  const header = HEADERS[family];
  lookUpOwn(program, maps.trail, NEXT);
  for (const at of wordsOf(FLOW_BYTES[family].key)) {
    program.load(64, "r1", "r10", STACK.key + at).store(64, "r0", TRAIL.key + at, "r1");
  }
  program.load(32, "r1", CONTEXT, PACKET_CONTEXT.byteCount).store(32, "r0", TRAIL.length, "r1");
  program.store(32, "r0", TRAIL.etherType, header.etherType);
  for (const [number, at] of header.constant.entries()) {
    program.load(32, "r1", PACKET, at).store(32, "r0", TRAIL.constant + 4 * number, "r1");
  }
  for (const what of TCP_CONSTANTS) {
    program.load(32, "r1", PACKET, header.tcp + TCP[what]).store(32, "r0", TRAIL[what], "r1");
  }
  program.store(32, "r0", TRAIL.hops, HOPS).store(32, "r0", TRAIL.purpose, purpose);
}
