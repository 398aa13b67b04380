import { type Kind, keyOf, type ModelObject } from "../core/model/object.ts";
import type { ObjectOp } from "../core/view/object-watcher.ts";
import { globalPathOf, sourceRowOf } from "../wire/sets/global-path.ts";
import { type FrameEncoder, globalSetIdOf } from "./frame-encoder.ts";

/** A change of the whole state; little is kept of it while a client does not read. */
export interface ObjectChange {
  readonly isReset: boolean;
  readonly sets: readonly ModelObject[];
  /** As they were last sent. */
  readonly deletes: readonly ModelObject[];
}

export function objectChangeOf(ops: readonly ObjectOp[]): ObjectChange {
  return {
    isReset: ops[0]?.op === "reset",
    sets: ops.flatMap((op) => (op.op === "set" ? [op.object] : [])),
    deletes: ops.flatMap((op) => (op.op === "delete" ? [op.object] : [])),
  };
}

/** Makes the messages of a change for a client that knows our fields, one at each step. */
export function* objectFrames(change: ObjectChange, encoder: FrameEncoder): Generator<void> {
  if (change.isReset) yield encoder.reset();
  for (const object of change.sets) yield encoder.object(object);
  for (const object of change.deletes) {
    yield encoder.deletion(globalSetIdOf(object), globalPathOf(object));
  }
  yield encoder.sync();
}

/** The kinds that the old contract has, in the order in which they are set. */
export const OLD_KINDS: readonly Kind[] = ["Node", "Service", "Endpoint"];

interface Row {
  readonly path: string;
  readonly object: ModelObject;
}

/**
 * Makes the messages for clients that know only the old contract: ordered as KPNG does it, each endpoint in
 * two rows. A row's path holds the source of an endpoint; where that changed, the rows that the client
 * has are deleted.
 */
export class OldObjectView {
  /** For each endpoint, the object whose rows the client has. */
  readonly #sent = new Map<string, ModelObject>();

  *frames(change: ObjectChange, encoder: FrameEncoder): Generator<void> {
    if (change.isReset) {
      this.#sent.clear();
      yield encoder.reset();
    }
    const sets = new Map<Kind, Row[]>(OLD_KINDS.map((kind) => [kind, []]));
    const deletes = new Map<Kind, Row[]>(OLD_KINDS.map((kind) => [kind, []]));
    for (const object of change.sets) this.#addSet(object, sets, deletes);
    for (const object of change.deletes) this.#addDelete(object, deletes);
    for (const kind of OLD_KINDS) {
      for (const { path, object } of ascending(sets.get(kind)))
        yield encoder.objectAt(object, path);
    }
    for (const kind of OLD_KINDS.toReversed()) {
      for (const { path, object } of ascending(deletes.get(kind)).toReversed()) {
        yield encoder.deletion(globalSetIdOf(object), path);
      }
    }
    yield encoder.sync();
  }

  #addSet(object: ModelObject, sets: Map<Kind, Row[]>, deletes: Map<Kind, Row[]>): void {
    sets.get(object.kind)?.push(...rowsOf(object));
    if (object.kind !== "Endpoint") return;
    const before = this.#sent.get(keyOf(object));
    if (before !== undefined && globalPathOf(before) !== globalPathOf(object)) {
      deletes.get("Endpoint")?.push(...rowsOf(before));
    }
    this.#sent.set(keyOf(object), object);
  }

  #addDelete(object: ModelObject, deletes: Map<Kind, Row[]>): void {
    deletes.get(object.kind)?.push(...rowsOf(object));
    if (object.kind === "Endpoint") this.#sent.delete(keyOf(object));
  }
}

function rowsOf(object: ModelObject): Row[] {
  const row = { path: globalPathOf(object), object };
  return object.kind === "Endpoint" ? [row, { path: sourceRowOf(object), object }] : [row];
}

function ascending(rows: readonly Row[] = []): readonly Row[] {
  return rows.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
