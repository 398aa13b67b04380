import type { UserConfig } from "../../../proxy/engine-config.ts";
import { problemAt } from "./problem-at.ts";

/** RFC 1929 has one byte for the length of each. */
const MAX_BYTES = 255;

/**
 * Reads `name:password` lines; empty lines and those that begin with `#` say nothing. A password may
 * hold colons. Problems name the line and never what stands in it.
 * @throws CoreError ERR_CONFIG_INVALID
 */
export function parseUsers(text: string): readonly UserConfig[] {
  const users = new Map<string, UserConfig>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const colon = line.indexOf(":");
    const [name, password] = [line.slice(0, Math.max(0, colon)), line.slice(colon + 1)];
    if (!isShort(name) || !isShort(password)) {
      throw problemAt(index, `expected name:password, each of 1 to ${MAX_BYTES} bytes`);
    }
    if (users.has(name)) throw problemAt(index, "the name stands there twice; expected it once");
    users.set(name, { name, password });
  }
  // Without any, nobody would be asked.
  if (users.size === 0) throw problemAt(0, "no user; expected at least one line name:password");
  return [...users.values()];
}

function isShort(text: string): boolean {
  const bytes = Buffer.byteLength(text);
  return bytes > 0 && bytes <= MAX_BYTES;
}
