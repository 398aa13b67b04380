import { performance } from "node:perf_hooks";
import { CoreError } from "../core/errors.ts";
import { callInstance } from "../daemon/instance-socket/client.ts";
import type { Sample } from "./status/sample.ts";

/**
 * How the instance is now.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE, with the remedy, where none runs
 */
export async function askStatus(path: string): Promise<Sample> {
  try {
    const status = await callInstance(path, "status", {});
    return { atMs: performance.now(), status };
  } catch (error) {
    if (!(error instanceof CoreError) || error.code !== "ERR_INSTANCE") throw error;
    // A code of its own: to be ill is another thing than not to be there.
    throw new CoreError("ERR_NOT_POSSIBLE_HERE", error.message, { cause: error });
  }
}
