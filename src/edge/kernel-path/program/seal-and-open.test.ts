import { createCipheriv, randomBytes, randomInt } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { BLOCK, emitChacha20 } from "./chacha20.ts";
import { type LocalFunctions, LocalRunner } from "./local-functions.fixture.ts";
import { emitPoly1305, TAG } from "./poly1305.ts";
import { MAX_TEXT_BYTES, SCRATCH, SCRATCH_BYTES } from "./scratch.ts";
import {
  APPLY_STREAM,
  callOpen,
  callSeal,
  emitApplyStream,
  emitCipherState,
  emitOpening,
  emitSealing,
} from "./seal-and-open.ts";

/** RFC 8439, 2.8.2. */
const VECTOR = {
  text: Buffer.from(
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
  ),
  aad: Buffer.from("50515253c0c1c2c3c4c5c6c7", "hex"),
  key: Buffer.from("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f", "hex"),
  nonce: Buffer.from("070000004041424344454647", "hex"),
  sealed: Buffer.from(
    `d31a8d34648e60db7b86afbc53ef7ec2 a4aded51296e08fea9e2b5a736ee62d6
     3dbea45e8ca9671282fafb69da92728b 1a71de0a9e060b2905d6a5b67ecd3b36
     92ddbd7f2d778b8c9803aee328091b58 fab324e4fad675945585808b4831d7bc
     3ff4def08e4b7a9de576d26586cec64b 6116`.replace(/\s/g, ""),
    "hex",
  ),
  tag: Buffer.from("1ae10b594f09e26a7e902ecbd0600691", "hex"),
};

/** RFC 8439, A.3, 7 to 11: where carries go all the way, and where they do not. */
const LIMITS: readonly (readonly [r: string, s: string, text: string, tag: string])[] = [
  ["02", "", "ff".repeat(16), "03"],
  ["02", "ff".repeat(16), `02${"00".repeat(15)}`, "03"],
  ["01", "", `${"ff".repeat(16)}f0${"ff".repeat(15)}11${"00".repeat(15)}`, "05"],
  ["01", "", `${"ff".repeat(16)}fb${"fe".repeat(15)}${"01".repeat(16)}`, ""],
  ["02", "", `fd${"ff".repeat(15)}`, `fa${"ff".repeat(15)}`],
  [
    "01000000000000000400000000000000",
    "",
    "e33594d7505e43b900000000000000003394d7505e4379cd01000000000000000000000000000000000000000000000001000000000000000000000000000000",
    "14000000000000005500000000000000",
  ],
  [
    "01000000000000000400000000000000",
    "",
    "e33594d7505e43b900000000000000003394d7505e4379cd010000000000000000000000000000000000000000000000",
    "13",
  ],
];

const INPUT = { keyAt: SCRATCH.way, counterAt: SCRATCH.counter };
const SEALING: LocalFunctions = {
  calls(assembler, memory) {
    emitCipherState(assembler, { memory, ...INPUT });
    callSeal(assembler, memory);
  },
  functions: emitSealing,
};
const OPENING: LocalFunctions = {
  calls(assembler, memory) {
    emitCipherState(assembler, { memory, ...INPUT });
    callOpen(assembler, memory);
  },
  functions: emitOpening,
};

function runnerOf(functions: LocalFunctions): LocalRunner {
  const runner = new LocalRunner(functions);
  onTestFinished(() => runner.close());
  return runner;
}

const padded = (bytes: Uint8Array, to: number) =>
  Buffer.concat([bytes, Buffer.alloc((to - (bytes.length % to)) % to)]);

function memoryWith(fields: readonly (readonly [at: number, bytes: Uint8Array])[]): Buffer {
  // What was there before must not matter.
  const memory = Buffer.alloc(SCRATCH_BYTES, 0xa5);
  for (const [at, bytes] of fields) memory.set(bytes, at);
  return memory;
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** As node:crypto seals it: with the tag. */
function sealed(key: Uint8Array, counter: number, text: Uint8Array): Buffer {
  const nonce = Buffer.concat([Buffer.alloc(4), number(counter), Buffer.alloc(4)]);
  const cipher = createCipheriv("chacha20-poly1305", key, nonce, { authTagLength: 16 });
  return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

function memoryOf(key: Uint8Array, counter: number, text: Uint8Array, textBytes: number): Buffer {
  return memoryWith([
    [SCRATCH.way, key],
    [SCRATCH.counter, number(counter)],
    [SCRATCH.text, text],
    [SCRATCH.textBytes, number(textBytes)],
  ]);
}

const textOf = (memory: Buffer, byteCount: number) =>
  memory.subarray(SCRATCH.text, SCRATCH.text + byteCount);

describe("ChaCha20-Poly1305 in the kernel", requires("linux", "root"), () => {
  test("the example of RFC 8439, 2.8.2: what is enciphered", () => {
    const runner = runnerOf({
      calls: (assembler, memory) => assembler.move("r1", memory).callLocal(APPLY_STREAM),
      functions(assembler) {
        emitApplyStream(assembler);
        emitChacha20(assembler);
      },
    });
    const { memory } = runner.run(
      memoryWith([
        [SCRATCH.state, Buffer.from("expand 32-byte k")],
        [SCRATCH.state + 16, VECTOR.key],
        [SCRATCH.state + 52, VECTOR.nonce],
        [SCRATCH.text, VECTOR.text],
        [SCRATCH.textBytes, number(VECTOR.text.length)],
      ]),
    );
    expect(textOf(memory, VECTOR.text.length)).toEqual(VECTOR.sealed);
  });

  test("the example of RFC 8439, 2.8.2: the tag", () => {
    const runner = runnerOf({
      calls(assembler, memory) {
        assembler.move("r1", memory).move("r2", 0).callLocal(BLOCK);
        assembler.move("r1", memory).callLocal(TAG);
      },
      functions(assembler) {
        emitChacha20(assembler);
        emitPoly1305(assembler);
      },
    });
    const parts = Buffer.concat([padded(VECTOR.aad, 16), padded(VECTOR.sealed, 16)]);
    const lengths = [number(VECTOR.aad.length), number(0), number(VECTOR.sealed.length), number(0)];
    const { memory } = runner.run(
      memoryWith([
        [SCRATCH.state, Buffer.from("expand 32-byte k")],
        [SCRATCH.state + 16, VECTOR.key],
        [SCRATCH.state + 52, VECTOR.nonce],
        [SCRATCH.text, Buffer.concat([parts, ...lengths])],
        [SCRATCH.textBytes, number(parts.length)],
      ]),
    );
    expect(memory.subarray(SCRATCH.tag, SCRATCH.tag + 16)).toEqual(VECTOR.tag);
  });

  test("RFC 8439, A.3: carries", () => {
    const runner = runnerOf({
      calls: (assembler, memory) => assembler.move("r1", memory).callLocal(TAG),
      functions: emitPoly1305,
    });
    const part = (hex: string) => Buffer.from(hex.padEnd(32, "0"), "hex");
    for (const [r, s, text, tag] of LIMITS) {
      const bytes = Buffer.from(text, "hex");
      const { memory } = runner.run(
        memoryWith([
          [SCRATCH.keystream, Buffer.concat([part(r), part(s)])],
          [SCRATCH.text, bytes],
          [SCRATCH.textBytes, number(bytes.length - 16)],
        ]),
      );
      expect(memory.subarray(SCRATCH.tag, SCRATCH.tag + 16)).toEqual(part(tag));
    }
  });

  test("all lengths are sealed as node:crypto does, and opened again", () => {
    const sealing = runnerOf(SEALING);
    const opening = runnerOf(OPENING);
    for (let byteCount = 1; byteCount <= MAX_TEXT_BYTES; byteCount += 1) {
      const key = randomBytes(32);
      const counter = randomInt(2 ** 32);
      const text = randomBytes(byteCount);
      const expected = sealed(key, counter, text);
      const made = sealing.run(memoryOf(key, counter, text, byteCount));
      expect(textOf(made.memory, byteCount + 16)).toEqual(expected);
      const opened = opening.run(memoryOf(key, counter, expected, byteCount));
      expect(opened.returned).toBe(0);
      expect(textOf(opened.memory, byteCount)).toEqual(text);
    }
  });

  test("one bit that is wrong, of the text or of the tag, is found", () => {
    const opening = runnerOf(OPENING);
    const key = randomBytes(32);
    const expected = sealed(key, 7, randomBytes(40));
    for (let bit = 0; bit < expected.length * 8; bit += 1) {
      const wrong = Buffer.from(expected);
      wrong.writeUInt8(wrong.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(opening.run(memoryOf(key, 7, wrong, 40)).returned).toBe(1);
    }
    expect(opening.run(memoryOf(key, 8, expected, 40)).returned).toBe(1);
  });
});
