import type { Log } from "../core/log.ts";
import { describe } from "../core/model/object.ts";
import type { Commit } from "../core/store/global-store.ts";

/** So many objects are named; the rest is counted. */
const MAX_NAMED = 5;

interface AuditEntry {
  readonly owner: string;
  readonly revision: number;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** `create Service default/web`, the first few. */
  readonly changes: readonly string[];
}

/** Who changed what, for the log. */
function auditEntry(commit: Commit): AuditEntry {
  const counts = { create: 0, update: 0, delete: 0 };
  for (const { action } of commit.changes) counts[action] += 1;
  return {
    owner: commit.owner,
    revision: commit.revision,
    created: counts.create,
    updated: counts.update,
    deleted: counts.delete,
    changes: commit.changes
      .slice(0, MAX_NAMED)
      .map(({ action, kind, key }) => `${action} ${describe(kind, key)}`),
  };
}

export function writeAudit(log: Log, commit: Commit): void {
  log.info({ audit: auditEntry(commit) }, "state changed");
}
