import { createCipheriv, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { allocateNative } from "../native-memory.ts";

describe("sealing", requires("linux"), () => {
  test("gives what node:crypto gives, opens it, and nothing else", async () => {
    const { loadAead } = await import("./aead-calls.ts");
    const { AeadKey } = await import("./aead-key.ts");
    const calls = loadAead();
    const key = randomBytes(32);
    const [sealing, opening] = [new AeadKey(calls, key, "seal"), new AeadKey(calls, key, "open")];
    const memory = allocateNative(8192);
    for (const [counter, byteCount] of [
      [0, 0],
      [1, 1],
      [2 ** 40 + 5, 1400],
    ] as const) {
      const plain = randomBytes(byteCount);
      memory.bytes.set(plain);
      sealing.seal(counter, memory.address, byteCount, memory.address + 4096);
      const sealed = Buffer.from(memory.bytes.subarray(4096, 4096 + byteCount + 16));
      expect(sealed).toEqual(byNode(key, counter, plain));
      const at = memory.address + 4096;
      expect(opening.open(counter + 1, at, byteCount, memory.address)).toBe(false);
      expect(opening.open(counter, at, byteCount, at)).toBe(true);
      expect(Buffer.from(memory.bytes.subarray(4096, 4096 + byteCount))).toEqual(plain);
      memory.bytes.set(sealed, 4096);
      memory.bytes[4096 + byteCount] = (memory.bytes[4096 + byteCount] ?? 0) ^ 1;
      expect(opening.open(counter, at, byteCount, memory.address)).toBe(false);
    }
    sealing.free();
    sealing.free();
    opening.free();
    expect(() => sealing.seal(9, memory.address, 1, memory.address)).toThrow("after it was freed");
    expect(() => opening.open(9, memory.address, 1, memory.address)).toThrow("after it was freed");
  });
});

function byNode(key: Buffer, counter: number, plain: Buffer): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64LE(BigInt(counter), 4);
  const cipher = createCipheriv("chacha20-poly1305", key, nonce, { authTagLength: 16 });
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}
