import type { CoreError } from "../../core/errors.ts";
import { unreachable } from "./etcd-errors.ts";

const WORDS = "no answer before the deadline of the call";

export function overdue(): CoreError {
  return unreachable(WORDS);
}

/** It says less than what went wrong before. */
export function isOverdue(error: CoreError): boolean {
  return error.message.endsWith(WORDS);
}

/** The same, unless the signal comes first: others may wait for it longer than one call can. */
export function orOverdue<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(overdue());
    if (signal.aborted) late();
    signal.addEventListener("abort", late, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", late));
  });
}
