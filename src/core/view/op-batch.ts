import { type DeleteOp, type Op, type SetName, type SetOp, SYNC } from "./ops.ts";

/** What is needed by others comes first; deletes go the other way. */
export const SET_ORDER: readonly SetName[] = [
  "certificates",
  "security-groups",
  "nodes",
  "groups",
  "services",
  "endpoints",
  "listeners",
];

/**
 * Gathers the operations of one change and gives them in the order of the protocol: sets of what
 * others need first and by ascending path, then deletes the other way round.
 */
export class OpBatch {
  readonly #sets = new Map<SetName, SetOp[]>();
  readonly #deletes = new Map<SetName, DeleteOp[]>();

  set(op: SetOp): void {
    append(this.#sets, op);
  }

  delete(set: SetName, path: string): void {
    append(this.#deletes, { op: "delete", set, path });
  }

  get isEmpty(): boolean {
    return this.#sets.size === 0 && this.#deletes.size === 0;
  }

  /** The operations that set what is in `set`. */
  sets(set: SetName): readonly SetOp[] {
    return sorted(this.#sets.get(set), 1);
  }

  /** The whole change, ending with `sync`. */
  ops(): readonly Op[] {
    const ops: Op[] = [];
    for (const set of SET_ORDER) for (const op of this.sets(set)) ops.push(op);
    for (const set of SET_ORDER.toReversed()) {
      for (const op of sorted(this.#deletes.get(set), -1)) ops.push(op);
    }
    ops.push(SYNC);
    return ops;
  }
}

function append<T extends { readonly set: SetName }>(lists: Map<SetName, T[]>, op: T): void {
  const list = lists.get(op.set);
  if (list === undefined) lists.set(op.set, [op]);
  else list.push(op);
}

/** Sorts by path; lists that come in order, as nearly all do, cost one pass. */
function sorted<T extends { readonly path: string }>(list: T[] = [], direction: 1 | -1): T[] {
  const compare = (a: T, b: T) => (a.path < b.path ? -direction : direction);
  const isSorted = list.every((op, index) => {
    const before = list[index - 1];
    return before === undefined || compare(before, op) <= 0;
  });
  return isSorted ? list : list.sort(compare);
}
