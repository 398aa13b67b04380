import type { Op, SetName } from "../view/ops.ts";

/** What a sink asks for before it is sent a change. */
export interface WatchRequest {
  readonly nodeName: string;
  /** The sets beyond services and endpoints that it wants. */
  readonly sets: readonly SetName[];
  /** Keys of the only services that it wants; missing: all. */
  readonly interest?: readonly string[];
}

/**
 * Takes the operations of one node. The driver calls `setup` once, then for each change awaits
 * `waitRequest` (which is how a sink holds changes back while it is busy: they coalesce), then calls
 * `send` for each operation, the last one being `sync`.
 */
export interface Sink {
  setup(): void | Promise<void>;
  waitRequest(): WatchRequest | Promise<WatchRequest>;
  /** The stream begins anew: what follows up to the next sync is the whole state. */
  reset(): void;
  /**
   * Only `sync` may return a promise, which settles when the change is applied. A rejected sync is
   * repeated by the driver, with whatever changed in the meantime.
   */
  send(op: Exclude<Op, { op: "reset" }>): void | Promise<void>;
}
