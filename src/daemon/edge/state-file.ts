import { existsSync } from "node:fs";
import { join } from "node:path";
import { CoreError, messageOf } from "../../core/errors.ts";
import { parseState, renderState, type StateKeeper } from "../../edge/environment/node-state.ts";
import { readTextFile, replaceTextFile } from "../private-files.ts";

const NAME = "edge.json";
const MAX_BYTES = 64 * 1024 * 1024;

/** The state of a node as a file of its own user, replaced whole; the one before stays beside it. */
export function createStateFile(folder: string): StateKeeper {
  const path = join(folder, NAME);
  return {
    load: async () => {
      if (!existsSync(path)) return undefined;
      return parseState(await readTextFile(path, MAX_BYTES), path);
    },
    save: async (state) => {
      try {
        await replaceTextFile(path, renderState(state));
      } catch (cause) {
        const message = `${messageOf(cause)}; nothing was changed: see to the disk, and try again`;
        throw new CoreError("ERR_JOURNAL", message, { cause });
      }
    },
  };
}
