import type { Log } from "../core/log.ts";
import { describe } from "../core/model/object.ts";
import type { Reporter } from "../core/status/status-board.ts";
import type { GlobalStore } from "../core/store/global-store.ts";

export interface ConflictReport {
  /** To be called also where nothing was committed: a transaction may do no more than lose. */
  look(): void;
  /** What a source could not take in; replaces what it said before. */
  refused(owner: string, lines: readonly string[]): void;
}

interface Line {
  readonly fate: "claim lost" | "refused";
  readonly text: string;
}

/** Tells claims that lost, and what was refused, on the board at their owner; logs them when they are new. */
export function createConflictReport(
  store: GlobalStore,
  reporters: ReadonlyMap<string, Reporter>,
  log: Log,
): ConflictReport {
  const refusals = new Map<string, readonly string[]>();
  let known: ReadonlySet<string> = new Set();
  const linesOf = (): ReadonlyMap<string, readonly Line[]> => {
    const lines = new Map<string, Line[]>();
    const add = (owner: string, line: Line): void => {
      lines.set(owner, [...(lines.get(owner) ?? []), line]);
    };
    for (const { owner, kind, key, what, heldBy } of store.conflicts()) {
      add(owner, {
        fate: "claim lost",
        text: `${describe(kind, key)}: ${what} is held by ${heldBy}`,
      });
    }
    for (const [owner, refused] of refusals) {
      for (const text of refused) add(owner, { fate: "refused", text });
    }
    return lines;
  };
  const look = (): void => {
    const lines = linesOf();
    const all = new Set<string>();
    for (const [owner, reporter] of reporters) {
      const told = lines.get(owner) ?? [];
      reporter.notHonoured(told.map(({ text }) => text));
      for (const { fate, text } of told) {
        all.add(`${owner} ${text}`);
        if (!known.has(`${owner} ${text}`)) log.warn({ owner }, `${fate}: ${text}`);
      }
    }
    known = all;
  };
  return {
    look,
    refused: (owner, lines) => {
      refusals.set(owner, lines);
      look();
    },
  };
}
