import type { BigIntStats, Dirent } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { CoreError, messageOf } from "../../core/errors.ts";
import type { StateFile } from "./state-file.ts";

/** Over all files of a source. */
export const DEFAULT_MAX_FILE_BYTES: number = 256 * 1024 * 1024;

const STATE_FILE = /^[^.].*\.(?:yaml|yml|json)$/;

/** A file that belongs to a source, as it is now; equal versions hold equal bytes. */
export interface FileVersion {
  readonly path: string;
  readonly bytes: number;
  /** Changes with every write and with every replacement. */
  readonly version: string;
}

/**
 * The files that `path` means: itself, or the *.yaml, *.yml and *.json files of a folder, in the order of
 * their names, without hidden ones and without those of sub-folders.
 * @throws CoreError ERR_STATE_UNREADABLE
 */
export async function listFiles(path: string): Promise<readonly FileVersion[]> {
  try {
    const stats = await stat(path, { bigint: true });
    if (!stats.isDirectory()) return [await versionOf(path)];
    const entries = await readdir(path, { withFileTypes: true });
    const names = entries.filter(isStateFile).map((entry) => entry.name);
    const versions = names.sort().map((name) => versionOf(join(path, name)).catch(unlessGone));
    return (await Promise.all(versions)).filter((version) => version !== undefined);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

/** What went between the two looks is no longer of the folder; a link that leads nowhere is neither. */
function unlessGone(cause: unknown): undefined {
  const isGone = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
  if (!isGone) throw cause;
}

function isStateFile(entry: Dirent): boolean {
  return !entry.isDirectory() && STATE_FILE.test(entry.name);
}

async function versionOf(path: string): Promise<FileVersion> {
  const stats = await stat(path, { bigint: true });
  // To open a FIFO waits for who writes it, and a device may never end.
  if (!stats.isFile() && !stats.isDirectory()) throw unreadable(path, `it is ${nameOf(stats)}`);
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return { path, bytes: Number(size), version: [dev, ino, size, mtimeNs, ctimeNs].join(" ") };
}

function nameOf(stats: BigIntStats): string {
  if (stats.isFIFO()) return "a FIFO";
  if (stats.isSocket()) return "a socket";
  return "a device";
}

/**
 * Reads the files whole.
 * @throws CoreError ERR_STATE_UNREADABLE; ERR_STATE_TOO_LARGE, before more than `maxBytes` are read
 */
export async function readFiles(
  files: readonly FileVersion[],
  maxBytes: number,
): Promise<readonly StateFile[]> {
  let left = maxBytes;
  const contents: StateFile[] = [];
  for (const { path } of files) {
    const bytes = await readUpTo(path, left).catch((cause: unknown) => {
      throw unreadable(path, cause);
    });
    if (bytes === undefined) throw tooLarge(files, path, maxBytes);
    left -= bytes.length;
    contents.push({ name: path, bytes });
  }
  return contents;
}

/** Undefined where the file holds more, also where it grows meanwhile or does not say its size. */
async function readUpTo(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    if (size > maxBytes) return undefined;
    let buffer = Buffer.allocUnsafeSlow(size + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      if (bytesRead === 0) return buffer.subarray(0, length);
      length += bytesRead;
      if (length > maxBytes) return undefined;
      if (length < buffer.length) continue;
      const larger = Buffer.allocUnsafeSlow(Math.min(2 * buffer.length, maxBytes) + 1);
      buffer.copy(larger);
      buffer = larger;
    }
  } finally {
    await file.close();
  }
}

function unreadable(path: string, cause: unknown): CoreError {
  if (cause instanceof CoreError) return cause;
  const reason = messageOf(cause);
  const message = `${path}: can not be read (${reason}); expected a state file, or a folder of *.yaml, *.yml and *.json files`;
  return new CoreError("ERR_STATE_UNREADABLE", message, { cause });
}

function tooLarge(files: readonly FileVersion[], path: string, maxBytes: number): CoreError {
  const what = files.length > 1 ? `${path}: the files up to this one` : path;
  const message = `${what}: more than ${maxBytes} bytes; expected less, or a higher --max-file-bytes`;
  return new CoreError("ERR_STATE_TOO_LARGE", message);
}
