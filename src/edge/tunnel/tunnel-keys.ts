import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import { CoreError } from "../../core/errors.ts";

export const KEY_BYTES = 32;
/** RFC 8410: what stands before the 32 bytes of a key of X25519. */
const PRIVATE_PREFIX = Buffer.from("302e020100300506032b656e04220420", "hex");
const PUBLIC_PREFIX = Buffer.from("302a300506032b656e032100", "hex");

/** A key of X25519, with which a node proves who it is, or which it uses once. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicBytes: Buffer;
}

/** A new private key, in Base64, as WireGuard writes it. */
export function generateTunnelKey(): string {
  const { privateKey } = generateKeyPairSync("x25519");
  return privateKey
    .export({ type: "pkcs8", format: "der" })
    .subarray(-KEY_BYTES)
    .toString("base64");
}

/** The public key that belongs to a private one, both in Base64. */
export function publicTunnelKey(privateKey: string): string {
  return parseKeyPair(privateKey).publicBytes.toString("base64");
}

/** @throws CoreError ERR_CONFIG_INVALID; what is wrong is told without the key */
export function parseKeyPair(privateKey: string): KeyPair {
  return keyPairOf(parseKey(privateKey, "private key of the tunnel"));
}

/** @throws CoreError ERR_CONFIG_INVALID */
export function parsePublicKey(publicKey: string): Buffer {
  return parseKey(publicKey, "public key of a peer");
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

/** What two nodes have in common. Undefined where the public key is one of the few that give nothing. */
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

function parseKey(text: string, what: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length === KEY_BYTES && bytes.toString("base64") === text) return bytes;
  throw new CoreError("ERR_CONFIG_INVALID", `${what}: it is not ${KEY_BYTES} bytes in Base64`);
}
