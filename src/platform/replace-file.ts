import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";

const OWNER_ONLY = 0o600;

/** Puts a text in the place of a file, for this user alone: whole or not at all, also where the power goes. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  try {
    await writeSynced(fresh, text);
    await rename(fresh, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** A new file for this user alone, whose text is on the disk. */
export async function writeSynced(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  const file = await open(path, "wx", OWNER_ONLY);
  try {
    await file.writeFile(text, "utf8");
    await file.sync();
  } finally {
    await file.close();
  }
}

/** What is in a folder is there after a crash; where a system does not offer that, it sees to it itself. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
