import { constants, type Stats } from "node:fs";
import { open, stat } from "node:fs/promises";

const { O_NONBLOCK, O_RDONLY } = constants;
const MIN_CHUNK_BYTES = 65_536;

/**
 * The text of a file that others name. What is no file is refused: a pipe that nobody writes to would
 * hold one of the few threads for files for ever, and a device may have no end or do something when it
 * is opened, which is why it is looked at before and after.
 * @returns undefined where it has more than `maxBytes`
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<string | undefined> {
  refuseOthers(await stat(path));
  const file = await open(path, O_RDONLY | O_NONBLOCK);
  try {
    const stats = await file.stat();
    refuseOthers(stats);
    if (stats.size > maxBytes) return undefined;
    const chunks: Buffer[] = [];
    let left = maxBytes;
    // Its size is no promise: some systems say none, and it may grow meanwhile.
    for (;;) {
      const chunk = Buffer.allocUnsafe(Math.max(MIN_CHUNK_BYTES, stats.size + 1));
      const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, left + 1));
      if (bytesRead === 0) return Buffer.concat(chunks).toString("utf8");
      left -= bytesRead;
      if (left < 0) return undefined;
      chunks.push(chunk.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

function refuseOthers(stats: Stats): void {
  if (!stats.isFile()) throw new TypeError(`it is ${kindOf(stats)}; expected a regular file`);
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a pipe";
  return stats.isSocket() ? "a socket" : "a device";
}
