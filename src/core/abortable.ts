import { CoreError } from "./errors.ts";

/** Stops waiting when the signal comes, with ERR_ABORTED; what was waited for goes on unheard. */
export function abortable<T>(promise: T | Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new CoreError("ERR_ABORTED", "the wait was ended"));
    const leave = (): void => signal.removeEventListener("abort", abort);
    Promise.resolve(promise).then(resolve, reject).finally(leave);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
