import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Lines that are kept. */
export const MAX_HISTORY = 1000;
const MAX_LINE_LENGTH = 4096;
const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const SECRET = /\b(?:password|passphrase|secret|token)\b/i;

/** What was typed before, the newest first, as readline wants it; none where the file can not be read. */
export async function loadHistory(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .slice(-MAX_HISTORY)
    .reverse();
}

/**
 * Keeps what was typed, whole or not at all, for its user only. Lines with secrets are left out.
 * @param lines the newest first
 */
export async function saveHistory(path: string, lines: readonly string[]): Promise<void> {
  const kept = lines.filter(mayBeKept).slice(0, MAX_HISTORY).toReversed();
  await mkdir(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER });
  const next = `${path}.new`;
  await writeFile(next, kept.map((line) => `${line}\n`).join(""), { mode: OWNER_ONLY });
  await chmod(next, OWNER_ONLY);
  await rename(next, path);
}

function mayBeKept(line: string): boolean {
  return line !== "" && line.length <= MAX_LINE_LENGTH && !SECRET.test(line);
}
