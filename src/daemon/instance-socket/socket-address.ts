import { createHash } from "node:crypto";
import { win32 } from "node:path";
import process from "node:process";

const HASH_DIGITS = 16;

/** What is listened on and called for a socket of that path; on Windows, where Node has none, a pipe named after it. */
export function socketAddress(path: string, os: NodeJS.Platform = process.platform): string {
  if (os !== "win32") return path;
  // Names of files do not differ by case there.
  const whole = win32.resolve(path).toLowerCase();
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, HASH_DIGITS);
  return `\\\\.\\pipe\\portolan-${hash}`;
}
