import { randomUUID } from "node:crypto";
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A text in a file that has no name any more, to be read from its beginning: whoever reads it does not
 * have to wait for us. The caller closes it; undefined where no such file can be had.
 */
export function spoolText(text: string): number | undefined {
  let descriptor: number | undefined;
  try {
    const path = join(tmpdir(), `portolan-${randomUUID()}`);
    descriptor = openSync(path, "wx+", 0o600);
    unlinkSync(path);
    const bytes = Buffer.from(text);
    // With a position: where reading begins stays as it is.
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, undefined, at);
    return descriptor;
  } catch {
    if (descriptor !== undefined) closeSync(descriptor);
    return undefined;
  }
}
