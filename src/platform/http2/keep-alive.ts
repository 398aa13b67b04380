import type { Http2Session } from "node:http2";
import { CoreError } from "../../core/errors.ts";

export interface KeepAliveOptions {
  /** How often the other side is asked. */
  readonly intervalMs: number;
  /** How long it may take to answer before the connection is given up. */
  readonly timeoutMs: number;
  /** Some servers take it ill to be asked while nothing is open: then it says whether to. */
  readonly isWanted?: () => boolean;
}

export const DEFAULT_KEEP_ALIVE: KeepAliveOptions = { intervalMs: 30_000, timeoutMs: 20_000 };

/** Finds out about a peer that is gone without a word, for as long as the session lives. */
export function keepAlive(session: Http2Session, options: KeepAliveOptions): void {
  let deadline: NodeJS.Timeout | undefined;
  const ask = (): void => {
    // One that connects, or closes, cancels what it is asked for.
    const canAsk = !session.destroyed && !session.connecting && !session.closed;
    if (!canAsk || deadline !== undefined || options.isWanted?.() === false) return;
    deadline = setTimeout(() => session.destroy(unanswered(options.timeoutMs)), options.timeoutMs);
    deadline.unref();
    session.ping((error) => {
      clearTimeout(deadline);
      deadline = undefined;
      if (error !== null && !session.destroyed) session.destroy(error);
    });
  };
  const timer = setInterval(ask, options.intervalMs);
  timer.unref();
  session.once("close", () => {
    clearInterval(timer);
    clearTimeout(deadline);
  });
}

function unanswered(timeoutMs: number): CoreError {
  return new CoreError("ERR_API_UNREACHABLE", `no answer to a keep-alive within ${timeoutMs} ms`);
}
