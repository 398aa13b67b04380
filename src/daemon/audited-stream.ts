import type { Log } from "../core/log.ts";
import type { OpStream } from "../core/sinks/pump.ts";
import type { DeleteOp, Op, SetOp } from "../core/view/ops.ts";

/** So many changes are named; the rest is counted. */
const MAX_NAMED = 20;

/** A stream that comes from elsewhere: what it changes on this node is audited, as the store's changes are. */
export function auditedStream(stream: OpStream, owner: string, log: Log): OpStream {
  const audited = <T extends readonly Op[] | undefined>(ops: T): T => {
    if (ops !== undefined) writeAudit(ops, owner, log);
    return ops;
  };
  return {
    poll: () => audited(stream.poll()),
    next: async (signal, onNothingNew) => audited(await stream.next(signal, onNothingNew)),
    get revision() {
      return stream.revision ?? 0;
    },
    close: () => stream.close(),
  };
}

function writeAudit(ops: readonly Op[], owner: string, log: Log): void {
  const changes = ops.filter((op): op is SetOp | DeleteOp => op.op === "set" || op.op === "delete");
  if (changes.length === 0) return;
  const set = changes.filter(({ op }) => op === "set").length;
  const named = changes.slice(0, MAX_NAMED);
  const audit = {
    owner,
    // The whole state: what it does not name is gone.
    whole: ops.some(({ op }) => op === "reset"),
    set,
    deleted: changes.length - set,
    changes: named.map((change) => `${change.op} ${change.set} ${change.path}`),
    more: changes.length - named.length,
  };
  log.info({ audit }, "state changed");
}
