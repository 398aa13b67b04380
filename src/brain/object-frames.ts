import type { ModelObject } from "../core/model/object.ts";
import type { ObjectOp } from "../core/view/object-watcher.ts";
import { globalPathOf } from "../wire/sets/global-path.ts";
import { type FrameEncoder, globalSetIdOf } from "./frame-encoder.ts";

/** A change of the whole state; little is kept of it while a client does not read. */
export interface ObjectChange {
  readonly isReset: boolean;
  readonly sets: readonly ModelObject[];
  /** As they were last sent. */
  readonly deletes: readonly ModelObject[];
  /** What the objects in `sets` were that come from another source now, as they were last sent. */
  readonly moved: readonly ModelObject[];
}

export function objectChangeOf(ops: readonly ObjectOp[]): ObjectChange {
  return {
    isReset: ops[0]?.op === "reset",
    sets: ops.flatMap((op) => (op.op === "set" ? [op.object] : [])),
    deletes: ops.flatMap((op) => (op.op === "delete" ? [op.object] : [])),
    moved: ops.flatMap((op) => (op.op === "set" ? movedFrom(op.object, op.before) : [])),
  };
}

function movedFrom(object: ModelObject, before: ModelObject | undefined): readonly ModelObject[] {
  const isMoved = before !== undefined && globalPathOf(before) !== globalPathOf(object);
  return isMoved ? [before] : [];
}

/** Makes the messages of a change for a client that knows our fields, one at each step. */
export function* objectFrames(change: ObjectChange, encoder: FrameEncoder): Generator<void> {
  if (change.isReset) yield encoder.reset();
  for (const object of change.sets) yield encoder.object(object);
  for (const object of [...change.deletes, ...change.moved]) {
    yield encoder.deletion(globalSetIdOf(object), globalPathOf(object));
  }
  yield encoder.sync();
}
