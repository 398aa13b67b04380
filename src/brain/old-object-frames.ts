import type { Kind, ModelObject } from "../core/model/object.ts";
import { globalPathOf, sourceRowOf } from "../wire/sets/global-path.ts";
import { type FrameEncoder, globalSetIdOf } from "./frame-encoder.ts";
import type { ObjectChange } from "./object-frames.ts";

/** The kinds that the old contract has, in the order in which they are set. */
export const OLD_KINDS: readonly Kind[] = ["Node", "Service", "Endpoint"];

/**
 * Makes the messages of a change for a client that knows only the old contract, one at each step:
 * ordered as KPNG does it, each endpoint in two rows. A row's path holds the source of an endpoint;
 * where that changed, the rows that the client has are deleted.
 */
export function oldObjectFrames(change: ObjectChange, encoder: FrameEncoder): Generator<void> {
  const sets = rowsByKind(change.sets);
  const deletes = rowsByKind([...change.deletes, ...change.moved]);
  return makeFrames(change.isReset, sets, deletes, encoder);
}

function* makeFrames(
  isReset: boolean,
  sets: readonly Rows[],
  deletes: readonly Rows[],
  encoder: FrameEncoder,
): Generator<void> {
  if (isReset) yield encoder.reset();
  for (const rows of sets) {
    for (const [index, object] of rows.objects.entries()) {
      yield encoder.objectAt(object, pathOf(rows, index));
    }
  }
  for (const rows of deletes.toReversed()) {
    for (let index = rows.objects.length - 1; index >= 0; index--) {
      const object = rows.objects[index];
      if (object !== undefined) yield encoder.deletion(globalSetIdOf(object), pathOf(rows, index));
    }
  }
  yield encoder.sync();
}

/** Rows by ascending paths, without the paths: these are many times as large as all the rest. */
interface Rows {
  readonly objects: readonly ModelObject[];
  /** 1 where a row is the one without the service's name. */
  readonly isSourceRow: Uint8Array;
}

function rowsByKind(objects: readonly ModelObject[]): readonly Rows[] {
  return OLD_KINDS.map((kind) => rowsOf(objects.filter((object) => object.kind === kind)));
}

function rowsOf(objects: readonly ModelObject[]): Rows {
  const rows = objects.map((object) => ({ object, path: globalPathOf(object), isSourceRow: 0 }));
  for (const object of objects) {
    if (object.kind !== "Endpoint") continue;
    rows.push({ object, path: sourceRowOf(object), isSourceRow: 1 });
  }
  rows.sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    objects: rows.map((row) => row.object),
    isSourceRow: Uint8Array.from(rows, (row) => row.isSourceRow),
  };
}

function pathOf({ objects, isSourceRow }: Rows, index: number): string {
  const object = objects[index];
  if (object === undefined) return "";
  const isSource = isSourceRow[index] === 1 && object.kind === "Endpoint";
  return isSource ? sourceRowOf(object) : globalPathOf(object);
}
