import type { ModelObject } from "../../core/model/object.ts";
import type { KeyValue } from "../../wire/etcd/kv-messages.ts";
import type { WatchEvent } from "../../wire/etcd/watch-messages.ts";
import { readStored, type StoredObject } from "./stored-object.ts";

/** What a change of rows means for the objects. */
export interface RowsChange {
  readonly sets: readonly ModelObject[];
  readonly deletes: readonly ModelObject[];
}

export interface RowLimits {
  readonly maxObjects: number;
  readonly maxObjectBytes: number;
}

/** What a row last was when it was good. */
type Row = StoredObject | undefined;

interface Table {
  readonly rows: Map<string, Row>;
  /** What is wrong with rows as they are now. */
  readonly problems: Map<string, string>;
}

/**
 * What etcd has of our objects, by their keys there. A row that becomes bad keeps the object that it was; only
 * a row that goes takes it along.
 */
export class ObjectRows {
  readonly #prefix: string;
  readonly #limits: RowLimits;
  #table = emptyTable();
  #coming = emptyTable();

  constructor(prefix: string, limits: RowLimits) {
    this.#prefix = prefix;
    this.#limits = limits;
  }

  /** Begins to read the whole anew; until `replace` what was read before holds. */
  begin(): void {
    this.#coming = emptyTable();
  }

  add(kvs: readonly KeyValue[]): void {
    for (const kv of kvs) this.#read(kv, this.#coming);
  }

  /** What was added is all there is. @returns all objects */
  replace(): readonly ModelObject[] {
    this.#table = this.#coming;
    this.#coming = emptyTable();
    return [...this.#table.rows.values()].flatMap((row) => row?.object ?? []);
  }

  apply(events: readonly WatchEvent[]): RowsChange {
    const { rows, problems } = this.#table;
    const touched = new Map<string, ModelObject | undefined>();
    for (const { type, kv } of events) {
      if (!touched.has(kv.key)) touched.set(kv.key, rows.get(kv.key)?.object);
      if (type === "put") this.#read(kv, this.#table);
      else {
        rows.delete(kv.key);
        problems.delete(kv.key);
      }
    }
    const sets: ModelObject[] = [];
    const deletes: ModelObject[] = [];
    for (const [key, before] of touched) {
      const after = rows.get(key)?.object;
      if (after !== undefined) sets.push(after);
      else if (before !== undefined) deletes.push(before);
    }
    return { sets, deletes };
  }

  /** All that is wrong, a line each. */
  problems(): readonly string[] {
    return [...this.#table.problems.values()];
  }

  #read(kv: KeyValue, { rows, problems }: Table): void {
    const { maxObjects, maxObjectBytes } = this.#limits;
    const before = rows.get(kv.key) ?? this.#table.rows.get(kv.key);
    const isBeyond = rows.size >= maxObjects && !rows.has(kv.key);
    const value = isBeyond
      ? { ok: false as const, problem: `${kv.key}: beyond the limit of ${maxObjects} objects` }
      : readStored(this.#prefix, kv, maxObjectBytes);
    rows.set(kv.key, value.ok ? value : before);
    if (value.ok) problems.delete(kv.key);
    else problems.set(kv.key, value.problem);
  }
}

function emptyTable(): Table {
  return { rows: new Map(), problems: new Map() };
}
