import { readFile } from "node:fs/promises";
import { parseUsers } from "../backends/userspace/files/parse-users.ts";
import { CoreError } from "../core/errors.ts";

/**
 * That a file of users can be used, before anything is started with it.
 * @throws CoreError ERR_CONFIG_INVALID
 */
export async function checkUsers(path: string): Promise<void> {
  try {
    parseUsers(await readFile(path, "utf8"));
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new CoreError("ERR_CONFIG_INVALID", `--socks5-users: ${path}: ${what}`, { cause: error });
  }
}
