import type { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import { FOLLOW_TAKEN_NS, MAX_COUNTER, RECORD, TAKEN_COUNT, WINDOW } from "../layout.ts";
import { NEXT, REFUSED } from "./emit.ts";
import { FRAME } from "./outer-headers.ts";
import { MEMORY, RECORD_AT, SCRATCH } from "./scratch.ts";

const WORD_SHIFT = 2;
/** Where others raise it at the same time, one of them succeeds each time. */
const RAISE_TRIES = 4;
const ENTRY = "r2";
/** With 1 added, as records have them. */
const COUNTER = "r8";

/** Looked at before it is raised, too: it must never come round to where it began. */
export function giveCounter(assembler: BpfAssembler): void {
  assembler.load(32, "r1", RECORD_AT, RECORD.counter);
  assembler.jumpIf("aboveOrEqual", "r1", MAX_COUNTER, NEXT).move("r1", 1);
  assembler.atomic("add", 32, RECORD_AT, RECORD.counter, "r1", "fetch");
  assembler.jumpIf("aboveOrEqual", "r1", MAX_COUNTER, NEXT);
  assembler.store(32, MEMORY, SCRATCH.counter, "r1");
}

/** That of a datagram. Nothing is claimed yet: it may be that the tunnel gets it. */
export function checkCounter(assembler: BpfAssembler): void {
  assembler.load(32, "r1", MEMORY, SCRATCH.headers + FRAME.counter + 4);
  assembler.jumpIf("notEqual", "r1", 0, NEXT);
  assembler.load(32, "r1", MEMORY, SCRATCH.headers + FRAME.counter);
  assembler.jumpIf("aboveOrEqual", "r1", MAX_COUNTER, NEXT);
  assembler.store(32, MEMORY, SCRATCH.counter, "r1");
  findEntry(assembler);
  assembler.load(32, "r1", RECORD_AT, RECORD.greatest);
  assembler.alu("subtract", "r1", COUNTER);
  assembler.jumpIf("signedAboveOrEqual", "r1", WINDOW, NEXT);
  assembler.load(32, "r1", ENTRY, RECORD.taken);
  assembler.jumpIf("aboveOrEqual", "r1", COUNTER, REFUSED);
}

/** Until it is taken, here or by the tunnel, others stay behind it. Uses r1. */
export function markLeft(assembler: BpfAssembler): void {
  assembler.load(64, "r1", MEMORY, SCRATCH.nowNs).store(64, RECORD_AT, RECORD.leftNs, "r1");
  assembler.load(32, "r1", MEMORY, SCRATCH.headers + FRAME.counter).alu("add", "r1", 1, 32);
  assembler.store(32, RECORD_AT, RECORD.leftCounter, "r1");
}

/** The tunnel has taken what was last left to it, or it is lost. Uses r1 and r2. */
export function checkLeft(assembler: BpfAssembler): void {
  assembler.load(64, "r1", MEMORY, SCRATCH.nowNs).load(64, "r2", RECORD_AT, RECORD.leftNs);
  assembler.alu("subtract", "r1", "r2");
  assembler.jumpIf("signedAboveOrEqual", "r1", FOLLOW_TAKEN_NS, "nothing is left");
  assembler.load(32, "r1", RECORD_AT, RECORD.leftCounter).move(ENTRY, "r1");
  assembler.alu("subtract", ENTRY, 1).alu("and", ENTRY, TAKEN_COUNT - 1);
  assembler.alu("shiftLeft", ENTRY, WORD_SHIFT).alu("add", ENTRY, RECORD_AT);
  assembler.load(32, ENTRY, ENTRY, RECORD.taken).jumpIf("above", "r1", ENTRY, NEXT);
  assembler.label("nothing is left");
}

/** Of two who have the same counter one succeeds. */
export function claimCounter(assembler: BpfAssembler): void {
  findEntry(assembler);
  assembler.load(32, "r0", ENTRY, RECORD.taken);
  assembler.jumpIf("aboveOrEqual", "r0", COUNTER, REFUSED).move("r1", "r0");
  assembler.atomic("compareExchange", 32, ENTRY, RECORD.taken, COUNTER);
  assembler.jumpIf("notEqual", "r0", "r1", REFUSED);
  for (let tries = 0; tries < RAISE_TRIES; tries += 1) {
    assembler.load(32, "r0", RECORD_AT, RECORD.greatest);
    assembler.jumpIf("aboveOrEqual", "r0", COUNTER, "raised").move("r1", "r0");
    assembler.atomic("compareExchange", 32, RECORD_AT, RECORD.greatest, COUNTER);
    assembler.jumpIf("equal", "r0", "r1", "raised");
  }
  assembler.label("raised");
}

/** `ENTRY`: the place of the counter in `taken`, less that. */
function findEntry(assembler: BpfAssembler): void {
  assembler.load(32, COUNTER, MEMORY, SCRATCH.counter).move(ENTRY, COUNTER);
  assembler.alu("and", ENTRY, TAKEN_COUNT - 1).alu("shiftLeft", ENTRY, WORD_SHIFT);
  assembler.alu("add", ENTRY, RECORD_AT).alu("add", COUNTER, 1);
}
