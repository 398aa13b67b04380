import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";

const run = promisify(execFile);

/** What curl gets there; its complaint where it fails. */
export async function curl(
  namespace: NetworkNamespace,
  url: string,
  seconds = 15,
): Promise<string> {
  const args = ["-sS", "-g", "--noproxy", "*", "--max-time", String(seconds), url];
  const { stdout } = await namespace
    .run(() => run("curl", args))
    .catch((error: unknown) => ({ stdout: `failed: ${String(error)}` }));
  return stdout;
}
