import { generateKeyPairSync } from "node:crypto";
import { CoreError } from "../../core/errors.ts";
import { KEY_BYTES, type KeyPair, keyPairOf } from "../../platform/x25519.ts";

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

/** Whether a text has the form of a key: private and public ones have the same. */
export function isTunnelKeyText(text: string): boolean {
  const bytes = Buffer.from(text, "base64");
  return bytes.length === KEY_BYTES && bytes.toString("base64") === text;
}

function parseKey(text: string, what: string): Buffer {
  if (isTunnelKeyText(text)) return Buffer.from(text, "base64");
  throw new CoreError("ERR_CONFIG_INVALID", `${what}: it is not ${KEY_BYTES} bytes in Base64`);
}
