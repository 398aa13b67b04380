import { KINDS, type Kind, type ModelObject } from "../model/object.ts";
import type { ObjectChange } from "./resolution.ts";

type Table = Map<string, ModelObject>;

/** The objects in force, each in the tables of its owner. No key of a kind is in two of them. */
export class Tables {
  readonly #byOwner = new Map<string, ReadonlyMap<Kind, Table>>();

  get(kind: Kind, key: string): ModelObject | undefined {
    for (const tables of this.#byOwner.values()) {
      const object = tables.get(kind)?.get(key);
      if (object !== undefined) return object;
    }
    return undefined;
  }

  ownerOf(kind: Kind, key: string): string | undefined {
    for (const [owner, tables] of this.#byOwner) if (tables.get(kind)?.has(key)) return owner;
    return undefined;
  }

  /** The table of one owner and kind. */
  of(owner: string, kind: Kind): ReadonlyMap<string, ModelObject> {
    return this.#table(owner, kind);
  }

  /** The owners other than `owner` that have any of the kind. */
  othersWith(owner: string, kind: Kind): readonly string[] {
    const others: string[] = [];
    for (const [other, tables] of this.#byOwner) {
      if (other !== owner && (tables.get(kind)?.size ?? 0) > 0) others.push(other);
    }
    return others;
  }

  /** Makes the changes of one transaction: each object is in its owner's table, and in no other's. */
  apply(changes: readonly ObjectChange[]): void {
    let last: { readonly owner: string; readonly kind: Kind; readonly table: Table } | undefined;
    for (const { owner, kind, key, before, after } of changes) {
      if (last?.owner !== owner || last.kind !== kind) {
        last = { owner, kind, table: this.#table(owner, kind) };
      }
      if (after === undefined) last.table.delete(key);
      else {
        if (before !== undefined) this.#deleteFromOthers(owner, kind, key);
        last.table.set(key, after);
      }
    }
  }

  *objects(kind: Kind): Generator<ModelObject> {
    for (const tables of this.#byOwner.values()) yield* tables.get(kind)?.values() ?? [];
  }

  *keysOf(owner: string): Generator<readonly [Kind, string]> {
    for (const [kind, table] of this.#byOwner.get(owner) ?? []) {
      for (const key of table.keys()) yield [kind, key];
    }
  }

  #deleteFromOthers(owner: string, kind: Kind, key: string): void {
    for (const other of this.othersWith(owner, kind)) this.#table(other, kind).delete(key);
  }

  #table(owner: string, kind: Kind): Table {
    let tables = this.#byOwner.get(owner);
    if (tables === undefined) {
      tables = new Map(KINDS.map((each) => [each, new Map()]));
      this.#byOwner.set(owner, tables);
    }
    const table = tables.get(kind);
    if (table === undefined) throw new TypeError(`no table for kind ${kind}`);
    return table;
  }
}
