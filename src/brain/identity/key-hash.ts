import { createHash, createPublicKey, type KeyObject } from "node:crypto";

/** What a public key is known by, however it is spelled; the key is one that can be read. */
export function keyHashOf(publicKey: string | KeyObject): string {
  const key = typeof publicKey === "string" ? createPublicKey(publicKey) : publicKey;
  const der = key.export({ format: "der", type: "spki" });
  return createHash("sha256").update(der).digest("base64url");
}
