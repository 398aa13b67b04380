import type { Log } from "../core/log.ts";
import { describe } from "../core/model/object.ts";
import type { Reporter } from "../core/status/status-board.ts";
import type { GlobalStore } from "../core/store/global-store.ts";

/**
 * Tells claims that lost on the board, at their owner, and logs them when they are new. To be called
 * also where nothing was committed: a transaction may do no more than lose.
 */
export function createConflictReport(
  store: GlobalStore,
  reporters: ReadonlyMap<string, Reporter>,
  log: Log,
): () => void {
  let known: ReadonlySet<string> = new Set();
  return () => {
    const lines = new Map([...reporters.keys()].map((owner) => [owner, [] as string[]]));
    for (const { owner, kind, key, what, heldBy } of store.conflicts()) {
      lines.get(owner)?.push(`${describe(kind, key)}: ${what} is held by ${heldBy}`);
    }
    const all = new Set<string>();
    for (const [owner, claims] of lines) {
      reporters.get(owner)?.notHonoured(claims);
      for (const claim of claims) {
        all.add(`${owner} ${claim}`);
        if (!known.has(`${owner} ${claim}`)) log.warn({ owner }, `claim lost: ${claim}`);
      }
    }
    known = all;
  };
}
