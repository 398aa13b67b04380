import { scryptSync } from "node:crypto";
import { CoreError } from "../../core/errors.ts";

const SALT = "portolan kcp tunnel 1";
const KEY_BYTES = 32;
const MIN_SECRET_CHARACTERS = 16;
/** About a tenth of a second: guessing is slow for others, too. */
const COST = { N: 32_768, r: 8, p: 1, maxmem: 67_108_864 };

/** The key of both ends, from the secret that people share. @throws CoreError ERR_CONFIG_INVALID */
export function tunnelKeyOf(secret: string, source: string): Buffer {
  const text = secret.trim();
  if (text.length >= MIN_SECRET_CHARACTERS) return scryptSync(text, SALT, KEY_BYTES, COST);
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `${source}: the secret has ${text.length} characters; expected at least ${MIN_SECRET_CHARACTERS}, such as from: openssl rand -base64 32`,
  );
}
