import { CoreError } from "../../core/errors.ts";
import { keyOf, type ModelObject } from "../../core/model/object.ts";
import type { ProtoReader } from "../../wire/protobuf/proto-reader.ts";
import { isSourceRow, rowKeyOf } from "../../wire/sets/global-path.ts";
import { readEndpointInfo, readNodeInfo, readServiceInfo } from "../../wire/sets/global-reader.ts";
import { readJsonObject } from "../../wire/sets/json-value.ts";
import { furtherKindOf, SET_ID } from "../../wire/sets/set-id.ts";
import type { ChangeTaker } from "./api-client.ts";
import type { ChangeOp } from "./watch-call.ts";

/** A change of the whole state, ready for one transaction. */
export interface ObjectChange {
  /** Whether `sets` is all there is. */
  readonly isWhole: boolean;
  readonly sets: readonly ModelObject[];
  readonly deletes: readonly ModelObject[];
}

type RowOp =
  | { readonly op: "set"; readonly row: string; readonly object: ModelObject }
  | { readonly op: "delete"; readonly row: string };

/**
 * What the API said last of the whole state, by rows. Several rows may tell of one object: a KPNG
 * server names the row of an endpoint by a hash, so a changed endpoint comes in a new row before the
 * old one goes. An object is gone when the row that told of it last goes.
 */
export class ObjectMirror<T> implements ChangeTaker<T> {
  readonly #apply: (change: ObjectChange) => T;
  #rows = new Map<string, ModelObject>();
  /** For each object, the row that told of it last. */
  #rowOf = new Map<string, string>();
  #isReset = false;
  #isStarted = false;
  #ops: RowOp[] = [];

  /** @param apply takes a complete change; where it throws, the change counts as never sent */
  constructor(apply: (change: ObjectChange) => T) {
    this.#apply = apply;
  }

  begin(): void {
    this.#isReset = false;
    this.#ops = [];
  }

  add(op: ChangeOp, reader: ProtoReader): void {
    if (op.op === "reset") {
      this.#isReset = true;
      this.#ops = [];
      return;
    }
    const row = `${op.set}:${op.path}`;
    if (op.op === "delete") {
      this.#ops.push({ op: "delete", row });
      return;
    }
    const object = readObject(op, reader);
    if (object !== undefined) this.#ops.push({ op: "set", row, object });
  }

  commit(): T {
    if (!this.#isStarted && !this.#isReset) {
      throw new CoreError("ERR_API_PROTOCOL", "the first change of the API began without a reset");
    }
    const change = this.#isReset ? this.#whole() : this.#difference();
    this.#ops = [];
    const applied = this.#apply(change);
    this.#isStarted = true;
    return applied;
  }

  #whole(): ObjectChange {
    this.#rows = new Map();
    this.#rowOf = new Map();
    this.#difference();
    const objects = new Map<string, ModelObject>();
    for (const object of this.#rows.values()) objects.set(nameOf(object), object);
    return { isWhole: true, sets: [...objects.values()], deletes: [] };
  }

  #difference(): ObjectChange {
    const changed = new Map<string, { readonly object: ModelObject; readonly isGone: boolean }>();
    for (const op of this.#ops) {
      const before = this.#rows.get(op.row);
      if (op.op === "set") {
        this.#rows.set(op.row, op.object);
        this.#rowOf.set(nameOf(op.object), op.row);
        changed.set(nameOf(op.object), { object: op.object, isGone: false });
      } else if (before !== undefined) {
        this.#rows.delete(op.row);
        const name = nameOf(before);
        if (this.#rowOf.get(name) !== op.row) continue;
        this.#rowOf.delete(name);
        changed.set(name, { object: before, isGone: true });
      }
    }
    const changes = [...changed.values()];
    return {
      isWhole: false,
      sets: changes.filter(({ isGone }) => !isGone).map(({ object }) => object),
      deletes: changes.filter(({ isGone }) => isGone).map(({ object }) => object),
    };
  }
}

function nameOf(object: ModelObject): string {
  return `${object.kind} ${keyOf(object)}`;
}

/** Undefined for rows that only help to find others, and for sets of a time to come. */
function readObject(
  op: Extract<ChangeOp, { op: "set" }>,
  reader: ProtoReader,
): ModelObject | undefined {
  const value = reader.window(op.start, op.end);
  switch (op.set) {
    case SET_ID.globalServices:
      return readServiceInfo(value);
    case SET_ID.globalNodes:
      return readNodeInfo(value);
    case SET_ID.globalEndpoints:
      if (isSourceRow(op.path)) return undefined;
      return readEndpointInfo(value, rowKeyOf(op.path));
    default: {
      const kind = furtherKindOf(op.set);
      return kind && readJsonObject(kind, value);
    }
  }
}
