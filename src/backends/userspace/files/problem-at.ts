import { CoreError } from "../../../core/errors.ts";

/** What is wrong with a line of a file; the file is named by whoever read it. */
export function problemAt(lineIndex: number, what: string): CoreError {
  return new CoreError("ERR_CONFIG_INVALID", `line ${lineIndex + 1}: ${what}`);
}
