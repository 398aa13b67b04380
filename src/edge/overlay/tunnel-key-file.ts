import { existsSync } from "node:fs";
import { join } from "node:path";
import { CoreError, messageOf } from "../../core/errors.ts";
import { readRegularFile } from "../../platform/read-regular-file.ts";
import { replaceFile } from "../../platform/replace-file.ts";
import { generateTunnelKey, publicTunnelKey } from "../tunnel/tunnel-keys.ts";

const NAME = "tunnel.key";
const MAX_BYTES = 256;

/**
 * The private key of this node's tunnel, Base64: the one that the folder has, or a new one, for its user alone.
 * @throws CoreError ERR_STATE_INVALID where what is there is no key, ERR_STATE_UNREADABLE
 */
export async function tunnelKeyIn(folder: string): Promise<string> {
  const path = join(folder, NAME);
  if (!existsSync(path)) return makeKey(path);
  const key = (await readKey(path)).trim();
  try {
    publicTunnelKey(key);
  } catch (cause) {
    const message = `${path}: ${messageOf(cause)}; remove it to have another made`;
    throw new CoreError("ERR_STATE_INVALID", message, { cause });
  }
  return key;
}

async function makeKey(path: string): Promise<string> {
  const key = generateTunnelKey();
  try {
    await replaceFile(path, `${key}\n`);
  } catch (cause) {
    const message = `${path} can not be written: ${messageOf(cause)}`;
    throw new CoreError("ERR_STATE_UNREADABLE", message, { cause });
  }
  return key;
}

async function readKey(path: string): Promise<string> {
  try {
    return (await readRegularFile(path, MAX_BYTES)) ?? "";
  } catch (cause) {
    const message = `${path} can not be read: ${messageOf(cause)}`;
    throw new CoreError("ERR_STATE_UNREADABLE", message, { cause });
  }
}
