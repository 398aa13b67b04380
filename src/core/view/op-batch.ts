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

const DELETE_ORDER = SET_ORDER.toReversed();

/**
 * Gathers the operations of one change and gives them in the order of the protocol: sets of what
 * others need first and by ascending path, then deletes the other way round.
 */
export class OpBatch {
  /** By set, once there is something: most changes are small, and there is one for each watcher. */
  readonly #sets: Partial<Record<SetName, SetOp[]>> = {};
  readonly #deletes: Partial<Record<SetName, DeleteOp[]>> = {};
  #isEmpty = true;

  set(op: SetOp): void {
    this.#isEmpty = false;
    append(this.#sets, op);
  }

  delete(set: SetName, path: string): void {
    this.#isEmpty = false;
    append(this.#deletes, { op: "delete", set, path });
  }

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** The operations that set what is in `set`. */
  sets(set: SetName): readonly SetOp[] {
    return sorted(this.#sets[set], 1);
  }

  /** The whole change, ending with `sync`. */
  ops(): readonly Op[] {
    const ops: Op[] = [];
    for (const set of SET_ORDER) for (const op of this.sets(set)) ops.push(op);
    for (const set of DELETE_ORDER) {
      for (const op of sorted(this.#deletes[set], -1)) ops.push(op);
    }
    ops.push(SYNC);
    return ops;
  }
}

function append<T extends { readonly set: SetName }>(
  lists: Partial<Record<SetName, T[]>>,
  op: T,
): void {
  const list = lists[op.set];
  if (list === undefined) lists[op.set] = [op];
  else list.push(op);
}

const NONE: readonly never[] = [];

/** Sorts by path; lists that come in order, as nearly all do, cost one pass. */
function sorted<T extends { readonly path: string }>(
  list: T[] | undefined,
  direction: 1 | -1,
): readonly T[] {
  if (list === undefined) return NONE;
  if (list.length === 1) return list;
  const compare = (a: T, b: T) => (a.path < b.path ? -direction : direction);
  const isSorted = list.every((op, index) => {
    const before = list[index - 1];
    return before === undefined || compare(before, op) <= 0;
  });
  return isSorted ? list : list.sort(compare);
}
