import { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import { HELPER, PACKET_CONTEXT } from "../../../platform/linux/bpf/bpf-numbers.ts";
import { SEGMENT_BYTES } from "../../tunnel/wire-form.ts";
import {
  FLOW_KEY,
  FLOW_VALUE,
  FOLLOW_FLOW_NS,
  FOLLOW_SENDER_NS,
  type KernelPathMaps,
  MAX_SHORT_BYTES,
  MODE_FAST,
  MODE_SECURE,
  PEER_VALUE,
  PLACE_VALUE,
  RECORD,
  THIS_NODE,
} from "../layout.ts";
import { giveCounter } from "./counters.ts";
import {
  copyToScratch,
  emitEnds,
  emitNow,
  emitStart,
  loadBytes,
  loadPacketBytes,
  loadWay,
  lookUp,
  MIN_PACKET_BYTES,
  NEXT,
} from "./emit.ts";
import { findRoute } from "./find-route.ts";
import { ETHERTYPE_V4, ETHERTYPE_V6, emitOuterHeaders, FRAME } from "./outer-headers.ts";
import { callParse, emitParse, PARSED, PARSED_BYTES, PARSED_FOR_TUNNEL } from "./parse-packet.ts";
import { CONTEXT, MEMORY, RECORD_AT, SCRATCH, SENDING_SCRATCH } from "./scratch.ts";
import { callSeal, emitCipherState, emitSealing } from "./seal-and-open.ts";
import { callTranslate, emitTranslate } from "./translate.ts";
import { FAST, SECURE } from "./wire-lengths.ts";
import { emitWrap, WRAP } from "./wrap.ts";

const MARK_SLOW = "mark slow";
const KEY: number = SCRATCH.flowKey;
const PEER_KEY_BYTES = 4;

/**
 * The program for what workloads send into the TUN (tcx egress): short packets of flows and to workloads that are
 * known leave as datagrams at once; all others, and all that is unusual, go to the tunnel as they are.
 */
export function assembleSending(maps: KernelPathMaps): Uint8Array {
  const assembler = new BpfAssembler();
  emitStart(assembler, maps, SENDING_SCRATCH);
  readPacket(assembler, maps);
  stayBehind(assembler, maps);
  findPeer(assembler, maps);
  findWay(assembler, maps);
  leaveAcknowledgements(assembler);
  assembler.store(32, MEMORY, SCRATCH.mayBePartial, 1);
  callTranslate(assembler, MEMORY);
  assembler.jumpIf("notEqual", "r0", 0, NEXT);
  putText(assembler);
  emitWrap(assembler, maps);
  emitEnds(assembler, maps);
  emitParse(assembler);
  emitTranslate(assembler);
  emitSealing(assembler);
  return assembler.assemble();
}

/** The whole packet where it is short, and its headers where not. */
function readPacket(assembler: BpfAssembler, maps: KernelPathMaps): void {
  assembler.load(32, "r1", CONTEXT, PACKET_CONTEXT.protocol);
  assembler.jumpIf("equal", "r1", ETHERTYPE_V4, "is ip");
  assembler.jumpIf("notEqual", "r1", ETHERTYPE_V6, NEXT).label("is ip");
  loadPacketBytes(assembler, "r8");
  assembler.jumpIf("below", "r8", MIN_PACKET_BYTES, NEXT);
  assembler.store(32, MEMORY, SCRATCH.packetBytes, "r8");
  emitNow(assembler);
  assembler.load(32, "r1", CONTEXT, PACKET_CONTEXT.gsoBytes);
  assembler.jumpIf("notEqual", "r1", 0, "long").jumpIf("above", "r8", MAX_SHORT_BYTES, "long");
  assembler.move("r4", "r8");
  loadBytes(assembler, 0, SCRATCH.packet);
  callParse(assembler, MEMORY);
  assembler.jumpIf("equal", "r0", PARSED, "short");
  assembler.jumpIf("equal", "r0", PARSED_FOR_TUNNEL, MARK_SLOW).jump(NEXT);

  assembler.label("long").move("r4", PARSED_BYTES);
  loadBytes(assembler, 0, SCRATCH.packet);
  callParse(assembler, MEMORY);
  assembler.jumpIf("above", "r0", PARSED_FOR_TUNNEL, NEXT);
  assembler.label(MARK_SLOW).loadMap("r1", maps.slow).move("r2", MEMORY).alu("add", "r2", KEY);
  assembler.move("r3", MEMORY).alu("add", "r3", SCRATCH.nowNs).move("r4", 0);
  assembler.call(HELPER.mapUpdate).jump(NEXT);

  // What the kernel takes it for is what it has to be.
  assembler.label("short").load(32, "r1", CONTEXT, PACKET_CONTEXT.protocol);
  assembler.load(8, "r2", MEMORY, KEY + FLOW_KEY.isV6);
  assembler.jumpIf("equal", "r1", ETHERTYPE_V4, "short v4");
  assembler.jumpIf("equal", "r2", 0, NEXT).jump("read");
  assembler.label("short v4").jumpIf("notEqual", "r2", 0, NEXT).label("read");
}

/** One that the tunnel has may still be there. */
function stayBehind(assembler: BpfAssembler, maps: KernelPathMaps): void {
  lookUp(assembler, maps.slow, KEY, "nothing before");
  assembler.load(64, "r1", "r0", 0).load(64, "r2", MEMORY, SCRATCH.nowNs);
  assembler.alu("subtract", "r2", "r1").jumpIf("signedBelow", "r2", FOLLOW_FLOW_NS, NEXT);
  assembler.label("nothing before");
}

/** `ends`, and the number of the peer in `peer`. */
function findPeer(assembler: BpfAssembler, maps: KernelPathMaps): void {
  lookUp(assembler, maps.flows, KEY, "no flow");
  assembler.move("r8", "r0").load(8, "r1", "r8", FLOW_VALUE.isOpen);
  assembler.jumpIf("equal", "r1", 0, MARK_SLOW).load(8, "r1", "r8", FLOW_VALUE.isBack);
  assembler.jumpIf("notEqual", "r1", 0, MARK_SLOW);
  assembler.load(64, "r1", MEMORY, SCRATCH.nowNs).store(64, "r8", FLOW_VALUE.lastUsedNs, "r1");
  copyToScratch(assembler, "r8", 0, SCRATCH.ends, FLOW_KEY.bytes);
  assembler.load(32, "r1", "r8", FLOW_VALUE.place).store(32, MEMORY, SCRATCH.number, "r1");
  lookUp(assembler, maps.places, SCRATCH.number);
  assembler.load(32, "r1", "r0", PLACE_VALUE.peer).jump("to peer");

  assembler.label("no flow");
  copyToScratch(assembler, MEMORY, KEY, SCRATCH.ends, FLOW_KEY.bytes);
  findRoute(assembler, maps, "destination");
  assembler.jumpIf("equal", "r1", THIS_NODE, NEXT, 32);
  assembler.label("to peer").store(32, MEMORY, SCRATCH.peer, "r1");
}

/** The peer in `way`, and the record of its session. */
function findWay(assembler: BpfAssembler, maps: KernelPathMaps): void {
  lookUp(assembler, maps.peers, SCRATCH.peer);
  loadWay(assembler, maps, { ...PEER_VALUE, keyAt: SCRATCH.peer, keyBytes: PEER_KEY_BYTES });
}

/** Of a peer that sends much, the tunnel sends them together; what follows may overtake them, as they say nothing else. */
function leaveAcknowledgements(assembler: BpfAssembler): void {
  assembler.load(32, "r1", MEMORY, SCRATCH.payloadBytes).jumpIf("notEqual", "r1", 0, "says more");
  assembler.load(64, "r1", RECORD_AT, RECORD.slowNs).load(64, "r2", MEMORY, SCRATCH.nowNs);
  assembler.alu("subtract", "r2", "r1").jumpIf("signedBelow", "r2", FOLLOW_SENDER_NS, NEXT);
  assembler.label("says more");
}

/** Everything that is written into the datagram, and how it is wrapped in r8. */
function putText(assembler: BpfAssembler): void {
  assembler.store(64, MEMORY, SCRATCH.text, 0);
  assembler.load(32, "r1", MEMORY, SCRATCH.packetBytes).alu("add", "r1", SEGMENT_BYTES);
  assembler.store(32, MEMORY, SCRATCH.textBytes, "r1");
  assembler.load(32, "r1", MEMORY, SCRATCH.way + PEER_VALUE.mode);
  assembler.jumpIf("equal", "r1", MODE_FAST, "fast").jumpIf("notEqual", "r1", MODE_SECURE, NEXT);
  giveCounter(assembler);
  emitCipherState(assembler, {
    memory: MEMORY,
    keyAt: SCRATCH.way + PEER_VALUE.sealingKey,
    counterAt: SCRATCH.counter,
  });
  callSeal(assembler, MEMORY);
  emitOuterHeaders(assembler, SECURE);
  assembler.load(32, "r1", MEMORY, SCRATCH.counter);
  assembler.store(32, MEMORY, SCRATCH.headers + FRAME.counter, "r1");
  assembler.store(32, MEMORY, SCRATCH.headers + FRAME.counter + 4, 0).jump(WRAP);
  assembler.label("fast");
  emitOuterHeaders(assembler, FAST);
}
