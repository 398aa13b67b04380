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
type Quarter = readonly [a: number, b: number, c: number, d: number];
/**
 * Columns, then diagonals (RFC 8439, 2.3), two at a time: one of them goes on while the other waits for its results,
 * and the words of both are in registers.
 */
const PAIRS: readonly (readonly [Quarter, Quarter])[] = [
  [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
  ],
  [
    [2, 6, 10, 14],
    [3, 7, 11, 15],
  ],
  [
    [0, 5, 10, 15],
    [1, 6, 11, 12],
  ],
  [
    [2, 7, 8, 13],
    [3, 4, 9, 14],
  ],
];
/** How far each of the four steps of a quarter round turns: RFC 8439, 2.1. */
const TURNS = [16, 12, 8, 7] as const;

const SPARE = "r0";
const COUNT = "r9";
const MEMORY_AT: number = -KEYSTREAM_BYTES - 8;

const stateAt = (word: number) => SCRATCH.state + word * WORD_BYTES;
const frameAt = (word: number) => word * WORD_BYTES - KEYSTREAM_BYTES;

/** A function: r1 is the scratch memory, r2 the number of the block, which is written to `keystream`. */
export function emitChacha20(assembler: BpfAssembler): void {
  assembler.label(BLOCK).store(32, "r1", stateAt(COUNTER_WORD), "r2");
  for (let word = 0; word < WORDS; word += 2) {
    assembler.load(64, SPARE, "r1", stateAt(word)).store(64, "r10", frameAt(word), SPARE);
  }
  assembler.store(64, "r10", MEMORY_AT, "r1").move(COUNT, 0).label("double round");
  const held = new HeldWords(assembler);
  for (const pair of PAIRS) {
    held.hold(pair.flat());
    quarterRounds(assembler, pair, held);
  }
  held.hold([]);
  assembler.alu("add", COUNT, 1).jumpIf("below", COUNT, DOUBLE_ROUNDS, "double round");
  assembler.load(64, "r1", "r10", MEMORY_AT);
  for (let word = 0; word < WORDS; word += 1) {
    assembler.load(32, "r2", "r10", frameAt(word)).load(32, "r3", "r1", stateAt(word));
    assembler.alu("add", "r2", "r3", 32);
    assembler.store(32, "r1", SCRATCH.keystream + word * WORD_BYTES, "r2");
  }
  assembler.move("r0", 0).exit();
}

/** Which words are in registers; all others are in the frame. */
class HeldWords {
  readonly #assembler: BpfAssembler;
  readonly #registers = new Map<number, Register>();
  #free: readonly Register[] = ["r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8"];

  constructor(assembler: BpfAssembler) {
    this.#assembler = assembler;
  }

  /** Writes those back that are not wanted, and reads the rest of those that are. */
  hold(words: readonly number[]): void {
    for (const [word, register] of [...this.#registers]) {
      if (words.includes(word)) continue;
      this.#assembler.store(32, "r10", frameAt(word), register);
      this.#registers.delete(word);
      this.#free = [...this.#free, register];
    }
    for (const word of words) {
      const [register, ...others] = this.#free;
      if (this.#registers.has(word) || register === undefined) continue;
      this.#assembler.load(32, register, "r10", frameAt(word));
      this.#registers.set(word, register);
      this.#free = others;
    }
  }

  at(word: number): Register {
    return this.#registers.get(word) ?? SPARE;
  }
}

function quarterRounds(
  assembler: BpfAssembler,
  pair: readonly [Quarter, Quarter],
  held: HeldWords,
): void {
  for (const [step, turn] of TURNS.entries()) {
    const steps = pair.map(([a, b, c, d]) => {
      const [sum, addend, turned] = step % 2 === 0 ? [a, b, d] : [c, d, b];
      return { sum: held.at(sum), addend: held.at(addend), turned: held.at(turned) };
    });
    for (const { sum, addend } of steps) assembler.alu("add", sum, addend, 32);
    for (const { sum, turned } of steps) assembler.alu("xor", turned, sum, 32);
    for (const { turned } of steps) {
      assembler.alu("move", SPARE, turned, 32).alu("shiftRight", SPARE, 32 - turn, 32);
      assembler.alu("shiftLeft", turned, turn, 32).alu("or", turned, SPARE, 32);
    }
  }
}
