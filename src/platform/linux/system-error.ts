import { CoreError } from "../../core/errors.ts";
import { errnoName } from "../errno.ts";

/** A failed call as an error that names the call, what it was for, and the errno. */
function systemError(call: string, result: number, subject?: string): CoreError {
  const what = subject === undefined ? call : `${call} of ${subject}`;
  return new CoreError("ERR_SYSTEM_CALL", `${what} failed: ${errnoName(result)}`);
}

/** Passes a result on; throws where it is a negative errno. For calls that are not expected to fail. */
export function checked(call: string, result: number, subject?: string): number {
  if (result < 0) throw systemError(call, result, subject);
  return result;
}
