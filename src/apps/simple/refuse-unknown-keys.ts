import type { ErrorCode } from "../../core/errors.ts";
import { problemsError, unknownKey } from "../../core/model/problems.ts";

/** What nothing reads was meant for something. @throws CoreError with `code`, and all such keys */
export function refuseUnknownKeys(code: ErrorCode, given: object, known: readonly string[]): void {
  const unheard = Object.keys(given).filter((key) => !known.includes(key));
  if (unheard.length === 0) return;
  const problems = unheard.map((key) => unknownKey([key], known));
  throw problemsError(code, problems);
}
