import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";

export const KEY_BYTES = 32;
/** RFC 8410: what stands before the 32 bytes of a key of X25519. */
const PRIVATE_PREFIX = Buffer.from("302e020100300506032b656e04220420", "hex");
const PUBLIC_PREFIX = Buffer.from("302a300506032b656e032100", "hex");

/** A key of X25519, with which somebody proves who it is, or which is used once. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicBytes: Buffer;
}

export function keyPairOf(privateBytes: Uint8Array): KeyPair {
  const der = Buffer.concat([PRIVATE_PREFIX, privateBytes]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const spki = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  return { privateKey, publicBytes: spki.subarray(-KEY_BYTES) };
}

export function generateKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("x25519");
  const spki = publicKey.export({ type: "spki", format: "der" });
  return { privateKey, publicBytes: spki.subarray(-KEY_BYTES) };
}

/** What two have in common. Undefined where the public key is one of the few that give nothing. */
export function sharedSecret(privateKey: KeyObject, publicBytes: Uint8Array): Buffer | undefined {
  const key = Buffer.concat([PUBLIC_PREFIX, publicBytes]);
  try {
    return diffieHellman({
      privateKey,
      publicKey: createPublicKey({ key, format: "der", type: "spki" }),
    });
  } catch {
    // OpenSSL refuses a result of all zeros, as WireGuard does.
    return undefined;
  }
}
