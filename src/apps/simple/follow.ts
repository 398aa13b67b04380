import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../core/log.ts";
import { pump } from "../../core/sinks/pump.ts";
import type { Sink } from "../../core/sinks/sink.ts";
import { StatusBoard } from "../../core/status/status-board.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import { NodeWatcher } from "../../core/view/node-watcher.ts";
import { SILENT_LOG } from "./silent-log.ts";

export interface FollowOptions {
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Hears of what could not be applied; nobody by default. A `pino` logger is one. */
  readonly log?: Log;
}

/**
 * Keeps a sink up to what a store says of the node that the sink asks for. What can not be applied is
 * tried again, later and later. Settles when the signal ends it and nothing is under way.
 */
export async function follow(
  store: GlobalStore,
  sink: Sink,
  { signal, log = SILENT_LOG }: FollowOptions,
): Promise<void> {
  const name = "library";
  await pump(
    {
      name,
      sink,
      open: ({ nodeName, sets, interest }) =>
        new NodeWatcher(store, nodeName, sets, undefined, interest && new Set(interest)),
      report: new StatusBoard({ now: () => performance.now() }).add("backend", name),
      log,
      sleep: (ms, until) => sleep(ms, undefined, { signal: until, ref: false }),
      random: Math.random,
    },
    signal,
  );
}
