import { deepFreeze } from "../../core/model/parse.ts";
import { parseState } from "./parse-state.ts";
import { DEFAULT_MAX_FILE_BYTES, listFiles, readFiles } from "./read-files.ts";
import type { LoadedState } from "./state-builder.ts";

export interface LoadOptions {
  /** Over all files; 256 MB by default. */
  readonly maxFileBytes?: number;
}

/**
 * Reads the state in a file, or in all files of a folder, once. What it returns is frozen.
 * @throws CoreError ERR_STATE_INVALID with all problems, ERR_STATE_TOO_LARGE, ERR_STATE_UNREADABLE
 */
export async function loadState(path: string, options: LoadOptions = {}): Promise<LoadedState> {
  const files = await listFiles(path);
  const read = await readFiles(files, options.maxFileBytes ?? DEFAULT_MAX_FILE_BYTES);
  return deepFreeze(parseState(read));
}
