import { deepEqual } from "../model/equal.ts";
import type { DeleteOp, SetName, SetOp } from "../view/ops.ts";
import type { Sink } from "./sink.ts";

/** Who names others goes before what it names, as the view itself sends it. */
const DELETE_ORDER: readonly SetName[] = [
  "listeners",
  "endpoints",
  "services",
  "groups",
  "nodes",
  "security-groups",
  "certificates",
];

/**
 * Hides resets from `inner`: after a reset, a set that says nothing new is passed over, and what was
 * not said again is deleted at the sync. So a reconnect costs `inner` nothing, and never a moment
 * without what still exists.
 */
export function createFilterReset(inner: Sink): Sink {
  const known = new Map<SetName, Map<string, SetOp>>();
  let unseen: Map<SetName, Set<string>> | undefined;

  const forwardSet = (op: SetOp): void => {
    unseen?.get(op.set)?.delete(op.path);
    const ops = known.get(op.set) ?? new Map<string, SetOp>();
    const before = ops.get(op.path);
    if (before !== undefined && deepEqual(before.value, op.value)) return;
    known.set(op.set, ops.set(op.path, op));
    inner.send(op);
  };

  const forwardDelete = (op: DeleteOp): void => {
    unseen?.get(op.set)?.delete(op.path);
    if (known.get(op.set)?.delete(op.path) === true) inner.send(op);
  };

  const deleteUnseen = (): void => {
    const paths = unseen;
    unseen = undefined;
    for (const set of DELETE_ORDER) {
      const descending = [...(paths?.get(set) ?? [])].sort().reverse();
      for (const path of descending) forwardDelete({ op: "delete", set, path });
    }
  };

  return {
    setup: () => inner.setup(),
    waitRequest: () => inner.waitRequest(),
    reset: () => {
      unseen = new Map([...known].map(([set, ops]) => [set, new Set(ops.keys())]));
    },
    send: (op) => {
      if (op.op === "set") forwardSet(op);
      else if (op.op === "delete") forwardDelete(op);
      else {
        deleteUnseen();
        return inner.send(op);
      }
    },
  };
}
