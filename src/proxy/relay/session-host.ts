import type { Log } from "../../core/log.ts";
import type { NetEventLoop } from "../../net/net-event-loop.ts";

/** Something open that draining waits for. */
export interface OpenSession {
  /** No new requests: ends as soon as nothing is under way. */
  drain(): void;
  /** Ends now. */
  abort(): void;
}

/** What sessions need of their loop. */
export interface SessionHost {
  readonly net: NetEventLoop;
  readonly log: Log;
  /** All that are open. */
  readonly sessions: Set<OpenSession>;
  readonly isDraining: boolean;
  /**
   * Has a host name resolved, elsewhere: a loop must not wait. Calls back with its addresses, none
   * where there are none; never before it returns.
   */
  resolve(name: string, callback: (addresses: readonly string[]) => void): void;
}
