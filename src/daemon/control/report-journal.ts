import type { Reporter } from "../../core/status/status-board.ts";
import type { Journal } from "../journal/journal.ts";

/** Tells the board whether what commands make can be kept: from the last time that it was tried. */
export function reportJournal(journal: Journal, report: Reporter): void {
  const good = `what commands make is kept in ${journal.path}`;
  report.ok(good);
  journal.follow((problem) => {
    if (problem === undefined) report.ok(good);
    else report.failed(problem.message);
  });
}
