import { allocateNative } from "../native-memory.ts";
import type { AeadCalls } from "./aead-calls.ts";

export const AEAD_TAG_BYTES = 16;
const AEAD_KEY_BYTES = 32;

const EVP_CTRL_AEAD_GET_TAG = 0x10;
const EVP_CTRL_AEAD_SET_TAG = 0x11;
const OPEN = 0;
const SEAL = 1;
const NONCE_COUNTER = 4;
const HIGH_WORD = 2 ** 32;

/** 12 bytes of a nonce, then an int for lengths. One at a time: calls of one thread do not overlap. */
const scratch = allocateNative(32);
const LENGTH = scratch.address + 16;

/**
 * ChaCha20-Poly1305 (RFC 8439) with one key in one direction. The nonce is four zero bytes and a counter,
 * little-endian, as WireGuard has it; who seals never gives one twice. There is nothing but what is sealed.
 */
export class AeadKey {
  readonly #calls: AeadCalls;
  #context: number;

  constructor(calls: AeadCalls, key: Uint8Array, use: "seal" | "open") {
    this.#calls = calls;
    this.#context = calls.newContext();
    const memory = allocateNative(AEAD_KEY_BYTES);
    memory.bytes.set(key);
    calls.init(this.#context, calls.chacha, 0, memory.address, 0, use === "seal" ? SEAL : OPEN);
    memory.bytes.fill(0);
  }

  /** Addresses; the tag is written behind. They may be the same, or not overlap. */
  seal(counter: number, from: number, byteCount: number, to: number): void {
    const calls = this.#calls;
    const context = this.#held();
    putCounter(counter);
    calls.init(context, 0, 0, 0, scratch.address, SEAL);
    calls.update(context, to, LENGTH, from, byteCount);
    calls.final(context, to + byteCount, LENGTH);
    calls.control(context, EVP_CTRL_AEAD_GET_TAG, AEAD_TAG_BYTES, to + byteCount);
  }

  /** `byteCount` without the tag, which is behind. False where it was not sealed with this key and counter. */
  open(counter: number, from: number, byteCount: number, to: number): boolean {
    const calls = this.#calls;
    const context = this.#held();
    putCounter(counter);
    calls.init(context, 0, 0, 0, scratch.address, OPEN);
    calls.control(context, EVP_CTRL_AEAD_SET_TAG, AEAD_TAG_BYTES, from + byteCount);
    const isGood =
      calls.update(context, to, LENGTH, from, byteCount) === 1 &&
      calls.final(context, to + byteCount, LENGTH) === 1;
    if (!isGood) calls.clearErrors();
    return isGood;
  }

  /** What is called after it but itself throws. */
  free(): void {
    if (this.#context !== 0) this.#calls.freeContext(this.#context);
    this.#context = 0;
  }

  /** OpenSSL would follow a null pointer, and take the whole process with it. */
  #held(): number {
    if (this.#context === 0) throw new Error("a key was used after it was freed");
    return this.#context;
  }
}

function putCounter(counter: number): void {
  scratch.view.setUint32(NONCE_COUNTER, counter % HIGH_WORD, true);
  scratch.view.setUint32(NONCE_COUNTER + 4, counter / HIGH_WORD, true);
}
