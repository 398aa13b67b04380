import { createHash } from "node:crypto";
import { link, mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { CoreError, messageOf } from "../core/errors.ts";
import { readRegularFile } from "../platform/read-regular-file.ts";
import { replaceFile, syncFolder, writeSynced } from "../platform/replace-file.ts";

const OWNER_ONLY_FOLDER = 0o700;
const HASH_DIGITS = 16;
const KEPT_NAME = new RegExp(`-[0-9a-f]{${HASH_DIGITS}}(\\.[\\w-]*)?(\\.new)?$`);

/** @throws CoreError ERR_JOURNAL where it can not be made */
export async function makePrivateFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: OWNER_ONLY_FOLDER });
  } catch (cause) {
    const why = messageOf(cause);
    throw new CoreError(
      "ERR_JOURNAL",
      `--state: ${path} can not be made: ${why}; give another folder`,
      { cause },
    );
  }
}

/** @throws CoreError ERR_STATE_TOO_LARGE, ERR_STATE_UNREADABLE */
export async function readTextFile(path: string, maxBytes: number): Promise<string> {
  try {
    const text = await readRegularFile(path, maxBytes);
    if (text !== undefined) return text;
  } catch (cause) {
    const why = messageOf(cause);
    throw new CoreError("ERR_STATE_UNREADABLE", `${path} can not be read: ${why}`, { cause });
  }
  throw new CoreError("ERR_STATE_TOO_LARGE", `${path} has more than ${maxBytes} bytes`);
}

/** Whole or not at all; the file before it stays as `PATH.bak`. @throws CoreError ERR_STATE_UNREADABLE */
export async function replaceTextFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  const backup = `${path}.bak`;
  try {
    await writeSynced(fresh, text);
    await rm(backup, { force: true });
    // The name is never without a file: a second name for the old one first.
    await link(path, backup).catch(ignoreMissing);
    await rename(fresh, path);
    await syncFolder(dirname(path));
  } catch (cause) {
    await rm(fresh, { force: true }).catch(() => undefined);
    const why = messageOf(cause);
    throw new CoreError("ERR_STATE_UNREADABLE", `${path} can not be written: ${why}`, { cause });
  }
}

/**
 * Keeps a text for this user alone. Another text is another file: one that is in use is never changed.
 * @returns its path
 * @throws CoreError ERR_JOURNAL where the disk does not take it
 */
export async function keepPrivateFile(folder: string, name: string, text: string): Promise<string> {
  const plain = basename(name).replaceAll(/[^\w.-]/g, "_");
  const ending = extname(plain);
  const stem = basename(plain, ending);
  const hash = createHash("sha256").update(text).digest("hex").slice(0, HASH_DIGITS);
  const path = join(folder, `${stem}-${hash}${ending}`);
  try {
    await mkdir(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
    await replaceFile(path, text);
  } catch (cause) {
    const why = messageOf(cause);
    throw new CoreError(
      "ERR_JOURNAL",
      `${path} can not be written: ${why}; nothing was changed: see to the disk, and try again`,
      { cause },
    );
  }
  return path;
}

/** Whether `keepPrivateFile` makes such names, or leaves them where the process ends meanwhile. */
export function isKeptName(name: string): boolean {
  return KEPT_NAME.test(name);
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
}
