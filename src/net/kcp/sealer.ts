import { createCipheriv, createDecipheriv } from "node:crypto";
import type { Region } from "../region.ts";
import type { SessionKeys } from "./noise-nn.ts";
import { TAG_BYTES } from "./wire-form.ts";

/** Seals and opens the packets of one session, in place. No counter is given twice to `seal`. */
export interface Sealer {
  /** The tag is written behind. */
  seal(counter: number, region: Region, start: number, byteCount: number): void;
  /** `byteCount` without the tag, which is behind. False where it was not sealed by the other end. */
  open(counter: number, region: Region, start: number, byteCount: number): boolean;
  free(): void;
}

export type CreateSealer = (keys: SessionKeys) => Sealer;

const NONCE_BYTES = 12;
const AEAD = { authTagLength: TAG_BYTES } as const;

/** ChaCha20-Poly1305 by `node:crypto`: everywhere, though not fast. */
export const createNodeSealer: CreateSealer = ({ sealing, opening }) => ({
  seal: (counter, { bytes }, start, byteCount) => {
    const cipher = createCipheriv("chacha20-poly1305", sealing, nonceOf(counter), AEAD);
    bytes.set(cipher.update(bytes.subarray(start, start + byteCount)), start);
    cipher.final();
    bytes.set(cipher.getAuthTag(), start + byteCount);
  },
  open: (counter, { bytes }, start, byteCount) => {
    const cipher = createDecipheriv("chacha20-poly1305", opening, nonceOf(counter), AEAD);
    const end = start + byteCount;
    cipher.setAuthTag(bytes.subarray(end, end + TAG_BYTES));
    const plain = cipher.update(bytes.subarray(start, end));
    try {
      cipher.final();
    } catch {
      return false;
    }
    bytes.set(plain, start);
    return true;
  },
  free: () => undefined,
});

function nonceOf(counter: number): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32LE(counter % 2 ** 32, 4);
  nonce.writeUInt32LE(Math.floor(counter / 2 ** 32), 8);
  return nonce;
}
