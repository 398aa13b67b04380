import { CoreError, type ErrorCode, messageOf } from "../core/errors.ts";

/** One error for several that did not hold each other up; each is told, and kept as the cause. */
export function joinFailures(code: ErrorCode, failures: readonly unknown[]): CoreError {
  const messages = failures.map((error) => messageOf(error));
  const cause = failures.length === 1 ? failures[0] : new AggregateError(failures);
  return new CoreError(code, messages.join("; "), { cause });
}
