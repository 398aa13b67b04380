/** ChaCha20-Poly1305 of RFC 8439, without additional data, as local functions of a program. */
import type { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import type { Register } from "../../../platform/linux/bpf/instruction.ts";
import { BLOCK, CONSTANTS, emitChacha20 } from "./chacha20.ts";
import { emitPoly1305, TAG } from "./poly1305.ts";
import { KEYSTREAM_BYTES, MAX_BLOCKS, MAX_TEXT_BYTES, SCRATCH } from "./scratch.ts";

const SEAL = "seal";
const OPEN = "open";
export const APPLY_STREAM = "apply stream";
const AUTHENTICATE = "authenticate";
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const KEY_AT: number = SCRATCH.state + 16;
const NONCE_AT: number = SCRATCH.state + 52;
const MEMORY = "r6";

/** Where the key is, and where the counter: 32 bits of it. */
export interface CipherInput {
  readonly memory: Register;
  /** In the scratch memory. */
  readonly keyAt: number;
  readonly counterAt: number;
}

/** The nonce is four zeros, and the counter in 8 bytes. Uses r0. */
export function emitCipherState(assembler: BpfAssembler, input: CipherInput): void {
  const { memory, keyAt, counterAt } = input;
  for (const [index, constant] of CONSTANTS.entries()) {
    assembler.store(32, memory, SCRATCH.state + index * 4, constant);
  }
  for (let at = 0; at < KEY_BYTES; at += 8) {
    assembler.load(64, "r0", memory, keyAt + at).store(64, memory, KEY_AT + at, "r0");
  }
  assembler.load(32, "r0", memory, counterAt).store(32, memory, NONCE_AT, 0);
  assembler.store(32, memory, NONCE_AT + 4, "r0").store(32, memory, NONCE_AT + 8, 0);
}

/** Seals `textBytes` of `text`, in its place, with the tag behind it. Uses r0 to r5. */
export function callSeal(assembler: BpfAssembler, memory: Register): void {
  assembler.move("r1", memory).callLocal(SEAL);
}

/** Opens `textBytes` of `text`, in its place, by the tag behind it. r0 is 0 where it is genuine; else nothing is changed. */
export function callOpen(assembler: BpfAssembler, memory: Register): void {
  assembler.move("r1", memory).callLocal(OPEN);
}

/** What `callSeal` calls. Functions that nothing calls are refused, so there is none of `callOpen`. */
export function emitSealing(assembler: BpfAssembler): void {
  emitSeal(assembler);
  emitShared(assembler);
}

/** What `callOpen` calls. */
export function emitOpening(assembler: BpfAssembler): void {
  emitOpen(assembler);
  emitShared(assembler);
}

function emitShared(assembler: BpfAssembler): void {
  emitAuthenticate(assembler);
  emitApplyStream(assembler);
  emitChacha20(assembler);
  emitPoly1305(assembler);
}

function emitSeal(assembler: BpfAssembler): void {
  assembler.label(SEAL).move(MEMORY, "r1").callLocal(APPLY_STREAM);
  assembler.move("r1", MEMORY).callLocal(AUTHENTICATE);
  textEnd(assembler, "r2", "sealed too much");
  for (let at = 0; at < TAG_BYTES; at += 8) {
    assembler.load(64, "r0", MEMORY, SCRATCH.tag + at).store(64, "r2", SCRATCH.text + at, "r0");
  }
  assembler.label("sealed too much").move("r0", 0).exit();
}

function emitOpen(assembler: BpfAssembler): void {
  assembler.label(OPEN).move(MEMORY, "r1");
  textEnd(assembler, "r2", "not genuine");
  for (let at = 0; at < TAG_BYTES; at += 8) {
    assembler
      .load(64, "r0", "r2", SCRATCH.text + at)
      .store(64, MEMORY, SCRATCH.givenTag + at, "r0");
  }
  assembler.callLocal(AUTHENTICATE);
  // All of both, whatever differs first.
  assembler.load(64, "r0", MEMORY, SCRATCH.tag).load(64, "r1", MEMORY, SCRATCH.givenTag);
  assembler.load(64, "r2", MEMORY, SCRATCH.tag + 8).load(64, "r3", MEMORY, SCRATCH.givenTag + 8);
  assembler.alu("xor", "r0", "r1").alu("xor", "r2", "r3").alu("or", "r0", "r2");
  assembler.jumpIf("notEqual", "r0", 0, "not genuine");
  assembler.move("r1", MEMORY).callLocal(APPLY_STREAM).move("r0", 0).exit();
  assembler.label("not genuine").move("r0", 1).exit();
}

/** The tag of `text`. Block 0 is the key: RFC 8439, 2.6. */
function emitAuthenticate(assembler: BpfAssembler): void {
  assembler.label(AUTHENTICATE).move(MEMORY, "r1").move("r2", 0).callLocal(BLOCK);
  textEnd(assembler, "r2", "authenticated");
  for (let at = 0; at < TAG_BYTES; at += 8) assembler.store(64, "r2", SCRATCH.text + at, 0);
  // Behind the padding: the length of additional data, which is 0, and of the text.
  assembler.load(32, "r2", MEMORY, SCRATCH.textBytes).move("r3", "r2");
  assembler.alu("add", "r2", TAG_BYTES - 1).alu("and", "r2", -TAG_BYTES);
  assembler.jumpIf("above", "r2", MAX_TEXT_BYTES + TAG_BYTES, "authenticated");
  assembler.alu("add", "r2", MEMORY).store(64, "r2", SCRATCH.text, 0);
  assembler.store(64, "r2", SCRATCH.text + 8, "r3");
  assembler.move("r1", MEMORY).callLocal(TAG);
  assembler.label("authenticated").move("r0", 0).exit();
}

/** RFC 8439, 2.4: the text from block 1 on. */
export function emitApplyStream(assembler: BpfAssembler): void {
  assembler.label(APPLY_STREAM).move(MEMORY, "r1").move("r7", "r1").move("r8", 0);
  assembler.load(32, "r9", MEMORY, SCRATCH.textBytes).alu("add", "r9", KEYSTREAM_BYTES - 1);
  assembler.alu("shiftRight", "r9", 6);
  assembler.label("stream").jumpIf("aboveOrEqual", "r8", "r9", "end of stream");
  assembler.alu("add", "r8", 1).move("r1", MEMORY).move("r2", "r8").callLocal(BLOCK);
  for (let at = 0; at < KEYSTREAM_BYTES; at += 8) {
    assembler
      .load(64, "r0", "r7", SCRATCH.text + at)
      .load(64, "r1", MEMORY, SCRATCH.keystream + at);
    assembler.alu("xor", "r0", "r1").store(64, "r7", SCRATCH.text + at, "r0");
  }
  assembler.alu("add", "r7", KEYSTREAM_BYTES).jumpIf("below", "r8", MAX_BLOCKS, "stream");
  assembler.label("end of stream").move("r0", 0).exit();
}

/** The place behind the text, less `SCRATCH.text`. Longer ones never come; the verifier wants to see that. */
function textEnd(assembler: BpfAssembler, into: Register, tooLong: string): void {
  assembler.load(32, into, MEMORY, SCRATCH.textBytes);
  assembler.jumpIf("above", into, MAX_TEXT_BYTES, tooLong).alu("add", into, MEMORY);
}
