import type { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import type { Register } from "../../../platform/linux/bpf/instruction.ts";
import { KEYSTREAM_BYTES, SCRATCH } from "./scratch.ts";

export const BLOCK = "chacha20 block";
/** "expa", "nd 3", "2-by", "te k". */
export const CONSTANTS = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574] as const;
const WORDS = 16;
const WORD_BYTES = 4;
const COUNTER_WORD = 12;
const DOUBLE_ROUNDS = 10;
/** Columns, then diagonals: RFC 8439, 2.3. */
const QUARTERS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;
/** How far each of the four steps of a quarter round turns: RFC 8439, 2.1. */
const TURNS = [16, 12, 8, 7] as const;

const COUNT = "r6";

/** A function: r1 is the scratch memory, r2 the number of the block, which is written to `keystream`. */
export function emitChacha20(assembler: BpfAssembler): void {
  const stateAt = (word: number) => SCRATCH.state + word * WORD_BYTES;
  const frameAt = (word: number) => word * WORD_BYTES - KEYSTREAM_BYTES;
  assembler.label(BLOCK).store(32, "r1", stateAt(COUNTER_WORD), "r2");
  for (let word = 0; word < WORDS; word += 2) {
    assembler.load(64, "r0", "r1", stateAt(word)).store(64, "r10", frameAt(word), "r0");
  }
  assembler.move(COUNT, 0).label("double round");
  for (const words of QUARTERS) {
    const [a, b, c, d] = words;
    assembler.load(32, "r2", "r10", frameAt(a)).load(32, "r3", "r10", frameAt(b));
    assembler.load(32, "r4", "r10", frameAt(c)).load(32, "r5", "r10", frameAt(d));
    quarterRound(assembler, "r2", "r3", "r4", "r5");
    assembler.store(32, "r10", frameAt(a), "r2").store(32, "r10", frameAt(b), "r3");
    assembler.store(32, "r10", frameAt(c), "r4").store(32, "r10", frameAt(d), "r5");
  }
  assembler.alu("add", COUNT, 1).jumpIf("below", COUNT, DOUBLE_ROUNDS, "double round");
  for (let word = 0; word < WORDS; word += 1) {
    assembler.load(32, "r2", "r10", frameAt(word)).load(32, "r3", "r1", stateAt(word));
    assembler.alu("add", "r2", "r3", 32);
    assembler.store(32, "r1", SCRATCH.keystream + word * WORD_BYTES, "r2");
  }
  assembler.move("r0", 0).exit();
}

function quarterRound(
  assembler: BpfAssembler,
  a: Register,
  b: Register,
  c: Register,
  d: Register,
): void {
  for (const [step, turn] of TURNS.entries()) {
    const [sum, addend, turned] = step % 2 === 0 ? [a, b, d] : [c, d, b];
    assembler.alu("add", sum, addend, 32).alu("xor", turned, sum, 32);
    assembler.alu("move", "r0", turned, 32).alu("shiftRight", "r0", 32 - turn, 32);
    assembler.alu("shiftLeft", turned, turn, 32).alu("or", turned, "r0", 32);
  }
}
