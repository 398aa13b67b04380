import { KINDS, type Kind, type ModelObject } from "../model/object.ts";

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

  /** The owner, other than `owner`, whose the key is. */
  otherOwnerOf(owner: string, kind: Kind, key: string): string | undefined {
    for (const [other, tables] of this.#byOwner) {
      if (other !== owner && tables.get(kind)?.has(key)) return other;
    }
    return undefined;
  }

  /** Puts the object in its owner's table, and takes it from any other's. */
  set(owner: string, key: string, object: ModelObject): void {
    const other = this.otherOwnerOf(owner, object.kind, key);
    if (other !== undefined) this.#table(other, object.kind).delete(key);
    this.#table(owner, object.kind).set(key, object);
  }

  delete(owner: string, kind: Kind, key: string): void {
    this.#table(owner, kind).delete(key);
  }

  *objects(kind: Kind): Generator<ModelObject> {
    for (const tables of this.#byOwner.values()) yield* tables.get(kind)?.values() ?? [];
  }

  *keysOf(owner: string): Generator<readonly [Kind, string]> {
    for (const [kind, table] of this.#byOwner.get(owner) ?? []) {
      for (const key of table.keys()) yield [kind, key];
    }
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
