import { existsSync } from "node:fs";
import { join } from "node:path";
import { CoreError, messageOf } from "../../core/errors.ts";
import { generateTunnelKey, publicTunnelKey } from "../../edge/tunnel/tunnel-keys.ts";
import { readTextFile, replaceTextFile } from "../private-files.ts";

const NAME = "tunnel.key";
const MAX_BYTES = 256;

/**
 * The private key of this node's tunnel, Base64: the one that the folder has, or a new one, for its user alone.
 * @throws CoreError ERR_STATE_INVALID where what is there is no key, ERR_STATE_UNREADABLE
 */
export async function tunnelKeyIn(folder: string): Promise<string> {
  const path = join(folder, NAME);
  if (!existsSync(path)) {
    const key = generateTunnelKey();
    await replaceTextFile(path, `${key}\n`);
    return key;
  }
  const key = (await readTextFile(path, MAX_BYTES)).trim();
  try {
    publicTunnelKey(key);
  } catch (cause) {
    const message = `${path}: ${messageOf(cause)}; remove it to have another made`;
    throw new CoreError("ERR_STATE_INVALID", message, { cause });
  }
  return key;
}
