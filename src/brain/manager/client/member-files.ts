import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { CoreError, messageOf } from "../../../core/errors.ts";
import { readRegularFile } from "../../../platform/read-regular-file.ts";
import { replaceFile } from "../../../platform/replace-file.ts";

const MAX_KEY_BYTES = 65_536;

/**
 * The public key, in PEM, of the private one that a file holds; where there is no file, of a new one that it holds then.
 * @throws CoreError ERR_STATE_INVALID where what is there is no key, ERR_STATE_UNREADABLE
 */
export async function publicKeyIn(path: string): Promise<string> {
  if (existsSync(path)) return publicKeyOf(await readKey(path), path);
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  await keepFile(path, String(privateKey.export({ format: "pem", type: "pkcs8" })));
  return String(publicKey.export({ format: "pem", type: "spki" }));
}

/** For this user alone, and there after a crash. @throws CoreError ERR_STATE_UNREADABLE */
export async function keepFile(path: string, text: string): Promise<void> {
  try {
    await replaceFile(path, text);
  } catch (cause) {
    const message = `${path} can not be written: ${messageOf(cause)}; see to the disk, and try again`;
    throw new CoreError("ERR_STATE_UNREADABLE", message, { cause });
  }
}

function publicKeyOf(privateKey: string, path: string): string {
  try {
    const key = createPublicKey(createPrivateKey(privateKey));
    return String(key.export({ format: "pem", type: "spki" }));
  } catch (cause) {
    const message = `${path}: it holds no private key in PEM form; put the key back from a copy, or remove the file to have another made`;
    throw new CoreError("ERR_STATE_INVALID", message, { cause });
  }
}

async function readKey(path: string): Promise<string> {
  try {
    // What is larger is none.
    return (await readRegularFile(path, MAX_KEY_BYTES)) ?? "";
  } catch (cause) {
    const message = `${path} can not be read: ${messageOf(cause)}; expected the private key of this node, readable for its user`;
    throw new CoreError("ERR_STATE_UNREADABLE", message, { cause });
  }
}
