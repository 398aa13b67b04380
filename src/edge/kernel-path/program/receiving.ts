import { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import {
  FLOW_KEY,
  FLOW_VALUE,
  type KernelPathMaps,
  MODE_FAST,
  SENDER_VALUE,
  THIS_NODE,
} from "../layout.ts";
import { checkCounter, checkLeft, claimCounter, markLeft } from "./counters.ts";
import {
  copyToScratch,
  emitEnds,
  emitRefused,
  emitStart,
  loadBounded,
  loadBytes,
  lookUp,
  NEXT,
  REFUSED,
} from "./emit.ts";
import { findRoute } from "./find-route.ts";
import { callParse, emitParse, PARSED } from "./parse-packet.ts";
import { emitReadDatagram } from "./read-datagram.ts";
import { MAX_TEXT_BYTES, MEMORY, RECEIVING_SCRATCH, SCRATCH } from "./scratch.ts";
import { callOpen, emitCipherState, emitOpening } from "./seal-and-open.ts";
import { callTranslate, emitTranslate } from "./translate.ts";
import { emitUnwrap, UNWRAP } from "./unwrap.ts";
import { FAST, SECURE } from "./wire-lengths.ts";

/**
 * The program for what comes from other nodes (tcx ingress of the interface): datagrams of peers with a short packet
 * for a workload here are opened and given to the TUN at once; all others go to the tunnel as they are. A datagram
 * is claimed only when nothing can send it to the tunnel any more, which would find it taken.
 */
export function assembleReceiving(maps: KernelPathMaps): Uint8Array {
  const assembler = new BpfAssembler();
  emitStart(assembler, maps, RECEIVING_SCRATCH);
  emitReadDatagram(assembler, maps);
  openText(assembler);
  checkPacket(assembler, maps);
  findEnds(assembler, maps);
  assembler.store(32, MEMORY, SCRATCH.mayBePartial, 0);
  callTranslate(assembler, MEMORY);
  assembler.jumpIf("notEqual", "r0", 0, NEXT);
  assembler.load(32, "r1", MEMORY, SCRATCH.mode).jumpIf("equal", "r1", MODE_FAST, UNWRAP);
  claimCounter(assembler);
  emitUnwrap(assembler, maps);
  emitRefused(assembler, maps);
  emitEnds(assembler, maps);
  emitParse(assembler);
  emitTranslate(assembler);
  emitOpening(assembler);
  return assembler.assemble();
}

function openText(assembler: BpfAssembler): void {
  assembler.load(32, "r1", MEMORY, SCRATCH.mode).jumpIf("equal", "r1", MODE_FAST, "read fast");
  checkLeft(assembler);
  checkCounter(assembler);
  loadBounded(assembler, "r4", SCRATCH.textBytes, MAX_TEXT_BYTES, NEXT);
  assembler.alu("add", "r4", SECURE.tagBytes);
  loadBytes(assembler, SECURE.headerBytes, SCRATCH.text);
  emitCipherState(assembler, {
    memory: MEMORY,
    keyAt: SCRATCH.way + SENDER_VALUE.openingKey,
    counterAt: SCRATCH.counter,
  });
  callOpen(assembler, MEMORY);
  assembler.jumpIf("notEqual", "r0", 0, REFUSED);
  markLeft(assembler);
  assembler.jump("opened");

  assembler.label("read fast");
  loadBounded(assembler, "r4", SCRATCH.textBytes, MAX_TEXT_BYTES, NEXT);
  loadBytes(assembler, FAST.headerBytes, SCRATCH.text);
  assembler.label("opened");
}

/** One packet, whole and with its checksum, from a workload of who sent it. */
function checkPacket(assembler: BpfAssembler, maps: KernelPathMaps): void {
  assembler.load(64, "r1", MEMORY, SCRATCH.text).jumpIf("notEqual", "r1", 0, NEXT);
  callParse(assembler, MEMORY);
  assembler.jumpIf("notEqual", "r0", PARSED, NEXT);
  findRoute(assembler, maps, "source");
  assembler.load(32, "r2", MEMORY, SCRATCH.way + SENDER_VALUE.peer);
  assembler.jumpIf("notEqual", "r1", "r2", NEXT);
}

/** `ends`: what comes back to a client of a service gets the address of that again. */
function findEnds(assembler: BpfAssembler, maps: KernelPathMaps): void {
  lookUp(assembler, maps.flows, SCRATCH.flowKey, "no flow");
  assembler.move("r8", "r0").load(8, "r1", "r8", FLOW_VALUE.isBack);
  assembler.jumpIf("equal", "r1", 0, "no flow").load(8, "r1", "r8", FLOW_VALUE.isOpen);
  assembler.jumpIf("equal", "r1", 0, NEXT);
  assembler.load(64, "r1", MEMORY, SCRATCH.nowNs).store(64, "r8", FLOW_VALUE.lastUsedNs, "r1");
  copyToScratch(assembler, "r8", 0, SCRATCH.ends, FLOW_KEY.bytes);
  assembler.jump("ends are known");

  assembler.label("no flow");
  copyToScratch(assembler, MEMORY, SCRATCH.flowKey, SCRATCH.ends, FLOW_KEY.bytes);
  findRoute(assembler, maps, "destination");
  assembler.jumpIf("notEqual", "r1", THIS_NODE, NEXT, 32).label("ends are known");
}
