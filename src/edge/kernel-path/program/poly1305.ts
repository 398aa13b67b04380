import type { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import type { Register } from "../../../platform/linux/bpf/instruction.ts";
import { MAX_TEXT_BYTES, SCRATCH } from "./scratch.ts";

export const TAG = "poly1305 tag";
const PART_BYTES = 16;
/** Those of the text, and one of lengths. */
const MAX_PARTS: number = Math.ceil(MAX_TEXT_BYTES / PART_BYTES) + 1;
const WORDS = [0, 1, 2, 3] as const;
const LAST_WORD = 3;
/** RFC 8439, 2.5: some bits of r are 0. */
const CLAMP_FIRST = 0x0fff_ffff;
const CLAMP_OTHERS = 0x0fff_fffc;

/** The accumulator, 32 bits each, and the little that is beyond 128. */
const LOW = ["r1", "r2", "r3", "r4"] as const;
const TOP = "r5";
const ACCUMULATOR: readonly Register[] = [...LOW, TOP];
const TEXT = "r7";
const END = "r8";
const INDEX = "r9";

/**
 * In the frame. `r` in words; 2^130 is 5 here, so what is beyond comes back as a product with 5/4 of r, which is
 * whole but for the lowest two bits of its first word.
 */
const rAt = (word: number) => -8 - word * 8;
const foldedAt = (word: number) => -40 - word * 8;
const LOWEST_AT = -72;
const productAt = (word: number) => -80 - word * 8;
const MEMORY_AT = -104;

/**
 * A function: r1 is the scratch memory. The key is in `keystream`; the text in `text`, with zeros behind it, and
 * the part with the lengths behind these (RFC 8439, 2.8). Writes `tag`.
 */
export function emitPoly1305(assembler: BpfAssembler): void {
  assembler.label(TAG).store(64, "r10", MEMORY_AT, "r1").move(TEXT, "r1");
  assembler.load(32, END, TEXT, SCRATCH.textBytes);
  assembler.alu("add", END, 2 * PART_BYTES - 1).alu("shiftRight", END, 4);
  loadKey(assembler);
  for (const word of ACCUMULATOR) assembler.move(word, 0);
  assembler.move(INDEX, 0).alu("add", TEXT, SCRATCH.text);
  assembler.label("part").jumpIf("aboveOrEqual", INDEX, END, "no more parts");
  for (const [index, word] of LOW.entries()) {
    assembler.load(32, "r6", TEXT, index * 4).alu("add", word, "r6");
  }
  assembler.alu("add", TOP, 1);
  multiply(assembler);
  reduce(assembler);
  assembler.alu("add", TEXT, PART_BYTES).alu("add", INDEX, 1);
  // The verifier does not know `END`, but follows a loop whose end is a number.
  assembler.jumpIf("below", INDEX, MAX_PARTS, "part").label("no more parts");
  finish(assembler);
  assembler.move("r0", 0).exit();
}

function loadKey(assembler: BpfAssembler): void {
  for (const word of WORDS) {
    assembler.load(32, "r2", TEXT, SCRATCH.keystream + word * 4);
    assembler.alu("and", "r2", word === 0 ? CLAMP_FIRST : CLAMP_OTHERS);
    assembler.store(64, "r10", rAt(word), "r2").move("r3", "r2");
    assembler.alu("shiftRight", "r3", 2).alu("multiply", "r3", 5);
    assembler.store(64, "r10", foldedAt(word), "r3");
    if (word === 0) assembler.alu("and", "r2", 3).store(64, "r10", LOWEST_AT, "r2");
  }
}

/** The words of the product, not carried yet: three in the frame, then r0, and what is beyond in `TOP`. */
function multiply(assembler: BpfAssembler): void {
  for (const place of WORDS) {
    for (const [index, word] of ACCUMULATOR.entries()) {
      const factor = place - index;
      const at = factor >= 0 ? rAt(factor) : foldedAt(factor + WORDS.length);
      const into = index === 0 ? "r0" : "r6";
      assembler.load(64, into, "r10", at).alu("multiply", into, word);
      if (index > 0) assembler.alu("add", "r0", "r6");
    }
    if (place < LAST_WORD) assembler.store(64, "r10", productAt(place), "r0");
  }
  assembler.load(64, "r6", "r10", LOWEST_AT).alu("multiply", TOP, "r6");
}

/** Carries, and folds what is beyond 2^130 back: 5 times as much at the beginning. */
function reduce(assembler: BpfAssembler): void {
  const [first] = LOW;
  assembler.move("r6", "r0").alu("shiftRight", "r6", 32).alu("add", TOP, "r6");
  assembler.move(first, TOP).alu("shiftRight", first, 2).alu("multiply", first, 5);
  for (const [place, word] of LOW.entries()) {
    const next = ACCUMULATOR[place + 1] ?? TOP;
    if (place < LAST_WORD) {
      assembler.load(64, "r6", "r10", productAt(place)).move(next, "r6");
      assembler.alu("shiftRight", next, 32);
    } else {
      // The upper half of this one is in `TOP` already.
      assembler.move("r6", "r0").alu("and", TOP, 3);
    }
    assembler.alu("move", "r6", "r6", 32).alu("add", word, "r6");
    assembler.move("r6", word).alu("shiftRight", "r6", 32).alu("add", next, "r6");
    assembler.alu("move", word, word, 32);
  }
}

/** RFC 8439, 2.5.1: takes 2^130 - 5 away where it is as much, and adds the second half of the key. */
function finish(assembler: BpfAssembler): void {
  assembler.load(64, TEXT, "r10", MEMORY_AT).move("r0", 5);
  for (const word of LOW) assembler.alu("add", "r0", word).alu("shiftRight", "r0", 32);
  assembler.alu("add", "r0", TOP).alu("shiftRight", "r0", 2).alu("multiply", "r0", 5);
  for (const [index, word] of LOW.entries()) {
    assembler.alu("add", "r0", word);
    assembler.load(32, "r6", TEXT, SCRATCH.keystream + PART_BYTES + index * 4);
    assembler.alu("add", "r0", "r6").store(32, TEXT, SCRATCH.tag + index * 4, "r0");
    assembler.alu("shiftRight", "r0", 32);
  }
}
