import type { Log } from "../core/log.ts";
import { describe, type Kind } from "../core/model/object.ts";
import type { Commit } from "../core/store/global-store.ts";
import type { ObjectChange } from "../core/store/resolution.ts";

/** So many objects are named; the rest is counted. What people deal with comes first. */
const MAX_NAMED = 20;
const KIND_ORDER: readonly Kind[] = [
  "Service",
  "Listener",
  "Group",
  "Node",
  "SecurityGroup",
  "Certificate",
  "Endpoint",
];

interface AuditEntry {
  readonly owner: string;
  readonly revision: number;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** `create Service default/web`, the first of them. */
  readonly changes: readonly string[];
  /** How many more there are. */
  readonly more: number;
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
    changes: firstOf(commit.changes).map(
      ({ action, kind, key }) => `${action} ${describe(kind, key)}`,
    ),
    more: Math.max(0, commit.changes.length - MAX_NAMED),
  };
}

function firstOf(changes: readonly ObjectChange[]): readonly ObjectChange[] {
  const byKind = new Map<Kind, ObjectChange[]>(KIND_ORDER.map((kind) => [kind, []]));
  for (const change of changes) {
    const first = byKind.get(change.kind);
    if (first !== undefined && first.length < MAX_NAMED) first.push(change);
  }
  return [...byKind.values()].flat().slice(0, MAX_NAMED);
}

export function writeAudit(log: Log, commit: Commit): void {
  log.info({ audit: auditEntry(commit) }, "state changed");
}
