import type { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import {
  ICMP_CHECKSUM,
  ICMP_ECHO,
  ICMP_ECHO_REPLY,
  ICMP_HEADER_BYTES,
  ICMP_ID,
  ICMP6_ECHO,
  ICMP6_ECHO_REPLY,
  PROTOCOL_ICMP,
  PROTOCOL_ICMP6,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
  TCP_CHECKSUM,
  TCP_DATA_OFFSET,
  TCP_FIN,
  TCP_FLAGS,
  TCP_HEADER_BYTES,
  TCP_RST,
  TCP_SYN,
  UDP_CHECKSUM,
  UDP_HEADER_BYTES,
  V4_DESTINATION,
  V4_FRAGMENT,
  V4_FRAGMENT_OFFSET,
  V4_HEADER_BYTES,
  V4_LENGTH,
  V4_MORE_FRAGMENTS,
  V4_PROTOCOL,
  V4_SOURCE,
  V6_DESTINATION,
  V6_HEADER_BYTES,
  V6_LENGTH,
  V6_NEXT,
  V6_SOURCE,
} from "../../../wire/ip/ip-numbers.ts";
import { FLOW_KEY } from "../layout.ts";
import { swapped, V4_FIRST_BYTE } from "./outer-headers.ts";
import { SCRATCH } from "./scratch.ts";

const PARSE = "parse packet";

/** What r0 is after `callParse`. */
export const PARSED = 0;
/** Its flow is known, but it begins or ends it, or is the first of fragments: the tunnel sees to it. */
export const PARSED_FOR_TUNNEL = 1;
/** Nothing is known of it. */
const NOT_PARSED = 2;

/** Headers that are looked at: IPv6 and TCP. */
export const PARSED_BYTES = 60;

const BEGINS_OR_ENDS: number = TCP_SYN | TCP_FIN | TCP_RST;
const ADDRESS_BYTES = 16;
const V4_ADDRESS_AT = 12;
const MEMORY = "r1";
const L4_BYTES = "r4";
const KEY: number = SCRATCH.flowKey;
const PACKET: number = SCRATCH.packet;

/** Reads the headers in `packet`, of a packet of `packetBytes`: `flowKey`, `checksumAt` and `payloadBytes`. r0 says how it went. */
export function callParse(assembler: BpfAssembler, memory: "r7"): void {
  assembler.move("r1", memory).callLocal(PARSE);
}

/** What `callParse` calls. */
export function emitParse(assembler: BpfAssembler): void {
  assembler.label(PARSE).move("r0", PARSED).load(32, L4_BYTES, MEMORY, SCRATCH.packetBytes);
  assembler.store(32, MEMORY, SCRATCH.payloadBytes, 1).load(8, "r2", MEMORY, PACKET);
  assembler.jumpIf("equal", "r2", V4_FIRST_BYTE, "is v4").alu("shiftRight", "r2", 4);
  assembler.jumpIf("notEqual", "r2", 6, "not parsed");
  parseV6(assembler);
  parseL4(assembler, "v6", V6_HEADER_BYTES);
  assembler.label("is v4");
  parseV4(assembler);
  parseL4(assembler, "v4", V4_HEADER_BYTES);
  assembler.label("not parsed").move("r0", NOT_PARSED).exit();
}

/** The protocol is in r2 then. */
function parseV4(assembler: BpfAssembler): void {
  assembler.load(16, "r2", MEMORY, PACKET + V4_LENGTH).swap("big", 16, "r2");
  assembler.jumpIf("notEqual", "r2", L4_BYTES, "not parsed");
  assembler.alu("subtract", L4_BYTES, V4_HEADER_BYTES);
  assembler.load(16, "r2", MEMORY, PACKET + V4_FRAGMENT);
  assembler.jumpIf("anyBit", "r2", swapped(V4_FRAGMENT_OFFSET), "not parsed");
  assembler.alu("and", "r2", swapped(V4_MORE_FRAGMENTS)).jumpIf("equal", "r2", 0, "whole");
  assembler.move("r0", PARSED_FOR_TUNNEL).label("whole");
  for (const [from, to] of [
    [V4_SOURCE, KEY + FLOW_KEY.source],
    [V4_DESTINATION, KEY + FLOW_KEY.destination],
  ] as const) {
    assembler.store(64, MEMORY, to, 0).load(32, "r2", MEMORY, PACKET + from);
    assembler.store(32, MEMORY, to + 8, 0).store(32, MEMORY, to + V4_ADDRESS_AT, "r2");
  }
  assembler.load(8, "r2", MEMORY, PACKET + V4_PROTOCOL);
}

function parseV6(assembler: BpfAssembler): void {
  assembler.jumpIf("below", L4_BYTES, V6_HEADER_BYTES, "not parsed");
  assembler.alu("subtract", L4_BYTES, V6_HEADER_BYTES);
  assembler.load(16, "r2", MEMORY, PACKET + V6_LENGTH).swap("big", 16, "r2");
  assembler.jumpIf("notEqual", "r2", L4_BYTES, "not parsed");
  for (let at = 0; at < ADDRESS_BYTES; at += 8) {
    assembler.load(64, "r2", MEMORY, PACKET + V6_SOURCE + at);
    assembler.store(64, MEMORY, KEY + FLOW_KEY.source + at, "r2");
    assembler.load(64, "r2", MEMORY, PACKET + V6_DESTINATION + at);
    assembler.store(64, MEMORY, KEY + FLOW_KEY.destination + at, "r2");
  }
  assembler.load(8, "r2", MEMORY, PACKET + V6_NEXT);
}

/** `L4_BYTES` is how much is left, r2 the protocol. Ends the function. */
function parseL4(assembler: BpfAssembler, family: "v4" | "v6", l4At: number): void {
  const at = PACKET + l4At;
  const isV6 = family === "v6";
  const done = `${family} is parsed`;
  assembler.store(8, MEMORY, KEY + FLOW_KEY.protocol, "r2");
  assembler.store(8, MEMORY, KEY + FLOW_KEY.isV6, isV6 ? 1 : 0);
  assembler.store(16, MEMORY, KEY + FLOW_KEY.isV6 + 1, 0);
  assembler.jumpIf("equal", "r2", PROTOCOL_TCP, `${family} tcp`);
  assembler.jumpIf("equal", "r2", PROTOCOL_UDP, `${family} udp`);
  const icmp = isV6 ? PROTOCOL_ICMP6 : PROTOCOL_ICMP;
  assembler.jumpIf("notEqual", "r2", icmp, "not parsed");
  parseEcho(assembler, family, l4At);
  assembler.jump(done);

  assembler.label(`${family} tcp`);
  assembler.jumpIf("signedBelow", L4_BYTES, TCP_HEADER_BYTES, "not parsed");
  assembler.load(8, "r2", MEMORY, at + TCP_DATA_OFFSET).alu("shiftRight", "r2", 4);
  assembler.alu("shiftLeft", "r2", 2).jumpIf("below", "r2", TCP_HEADER_BYTES, "not parsed");
  assembler.jumpIf("above", "r2", L4_BYTES, "not parsed").alu("subtract", L4_BYTES, "r2");
  assembler.store(32, MEMORY, SCRATCH.payloadBytes, L4_BYTES);
  assembler.store(32, MEMORY, SCRATCH.checksumAt, l4At + TCP_CHECKSUM);
  assembler.load(8, "r2", MEMORY, at + TCP_FLAGS).alu("and", "r2", BEGINS_OR_ENDS);
  assembler.jumpIf("equal", "r2", 0, `${family} ports`).move("r0", PARSED_FOR_TUNNEL);
  assembler.jump(`${family} ports`);

  assembler.label(`${family} udp`);
  assembler.jumpIf("signedBelow", L4_BYTES, UDP_HEADER_BYTES, "not parsed");
  assembler.store(32, MEMORY, SCRATCH.checksumAt, l4At + UDP_CHECKSUM);

  assembler.label(`${family} ports`).load(32, "r2", MEMORY, at);
  assembler
    .store(32, MEMORY, KEY + FLOW_KEY.sourcePort, "r2")
    .label(done)
    .exit();
}

/** Of who asks the identifier stands for the port. */
function parseEcho(assembler: BpfAssembler, family: "v4" | "v6", l4At: number): void {
  const isV6 = family === "v6";
  assembler.jumpIf("signedBelow", L4_BYTES, ICMP_HEADER_BYTES, "not parsed");
  assembler.store(32, MEMORY, SCRATCH.checksumAt, l4At + ICMP_CHECKSUM);
  assembler.load(8, "r2", MEMORY, PACKET + l4At).load(16, "r3", MEMORY, PACKET + l4At + ICMP_ID);
  assembler.jumpIf("equal", "r2", isV6 ? ICMP6_ECHO : ICMP_ECHO, `${family} echo`);
  assembler.jumpIf("notEqual", "r2", isV6 ? ICMP6_ECHO_REPLY : ICMP_ECHO_REPLY, "not parsed");
  // The second of the two ports, as they lie in memory.
  assembler.alu("shiftLeft", "r3", 16);
  assembler.label(`${family} echo`).store(32, MEMORY, KEY + FLOW_KEY.sourcePort, "r3");
}
