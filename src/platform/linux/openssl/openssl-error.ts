import { CoreError } from "../../../core/errors.ts";
import type { OpenSslCalls } from "./openssl-calls.ts";
import { REASON_MASK } from "./openssl-numbers.ts";

/** What went wrong in the calls of this thread. */
export interface OpenSslFailure {
  /** ERR_GET_REASON(3); 0 where nothing is known. */
  readonly reason: number;
  readonly text: string;
}

/** Empties the queue of errors, which must be empty before every call whose result is asked for. */
export function takeFailure(calls: OpenSslCalls): OpenSslFailure {
  const code = calls.errGetError();
  calls.errClearError();
  const text = code === 0 ? null : calls.errReasonErrorString(code);
  return { reason: code % (REASON_MASK + 1), text: text ?? "unknown reason" };
}

/** Passes a result on; throws where it is 0 or negative, with the reason. */
export function expectGood(calls: OpenSslCalls, call: string, result: number): number {
  if (result > 0) return result;
  throw new CoreError("ERR_SYSTEM_CALL", `${call} failed: ${takeFailure(calls).text}`);
}
