import type { Endpoint } from "../../core/model/endpoint.ts";
import {
  groupKeyOf,
  KINDS,
  type Kind,
  keyOf,
  type ModelObject,
  type ObjectOf,
} from "../../core/model/object.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import { CONTROL_OWNER, type DesiredChange } from "../world.ts";

/** What planners read: the store as it is, or as it would be after changes that are not made yet. */
export interface StateView {
  get<K extends Kind>(kind: K, key: string): ObjectOf<K> | undefined;
  ownerOf(kind: Kind, key: string): string | undefined;
  /** In no order. */
  objects<K extends Kind>(kind: K): Iterable<ObjectOf<K>>;
  endpointsOf(groupKey: string): readonly Endpoint[];
}

/** The store at the moment of each call. */
export function viewOf(store: GlobalStore): StateView {
  return {
    get: (kind, key) => store.get(kind, key),
    ownerOf: (kind, key) => store.ownerOf(kind, key),
    *objects(kind) {
      for (const object of store.objects(kind)) if (isOfKind(object, kind)) yield object;
    },
    endpointsOf: (groupKey) => store.state().groups.get(groupKey)?.endpoints ?? [],
  };
}

/** The state at this moment, whatever changes after it. */
export function frozenView(view: StateView): StateView {
  const tables = new Map<Kind, Map<string, { object: ModelObject; owner: string | undefined }>>();
  const members = new Map<string, readonly Endpoint[]>();
  for (const kind of KINDS) {
    const table = new Map<string, { object: ModelObject; owner: string | undefined }>();
    for (const object of view.objects(kind)) {
      const key = keyOf(object);
      table.set(key, { object, owner: view.ownerOf(kind, key) });
      if (object.kind === "Endpoint" && !members.has(groupKeyOf(object))) {
        members.set(groupKeyOf(object), view.endpointsOf(groupKeyOf(object)));
      }
    }
    tables.set(kind, table);
  }
  return {
    get: (kind, key) => {
      const object = tables.get(kind)?.get(key)?.object;
      return object !== undefined && isOfKind(object, kind) ? object : undefined;
    },
    ownerOf: (kind, key) => tables.get(kind)?.get(key)?.owner,
    *objects(kind) {
      for (const { object } of tables.get(kind)?.values() ?? []) {
        if (isOfKind(object, kind)) yield object;
      }
    },
    endpointsOf: (groupKey) => members.get(groupKey) ?? [],
  };
}

/** Where nothing is. */
export const EMPTY_VIEW: StateView = {
  get: () => undefined,
  ownerOf: () => undefined,
  objects: () => [],
  endpointsOf: () => [],
};

/** A state with changes that are only written down: many commands plan against it, then it is made so at once. */
export class Draft implements StateView {
  readonly #base: StateView;
  readonly #changes = new Map<Kind, Map<string, ModelObject | undefined>>();
  /** The changed endpoints by the key of their group, so that one group can be read quickly. */
  readonly #members = new Map<string, Map<string, Endpoint | undefined>>();

  constructor(base: StateView) {
    this.#base = base;
  }

  apply(change: DesiredChange): void {
    for (const { kind, key } of change.delete) this.#put(kind, key, undefined);
    for (const object of change.set) this.#put(object.kind, keyOf(object), object);
  }

  /** All that was changed, as one. */
  change(): DesiredChange {
    const set: ModelObject[] = [];
    const deleted: { kind: Kind; key: string }[] = [];
    for (const [kind, byKey] of this.#changes) {
      for (const [key, object] of byKey) {
        if (object !== undefined) set.push(object);
        else if (this.#base.get(kind, key) !== undefined) deleted.push({ kind, key });
      }
    }
    return { set, delete: deleted };
  }

  get<K extends Kind>(kind: K, key: string): ObjectOf<K> | undefined {
    const changed = this.#changes.get(kind);
    if (!changed?.has(key)) return this.#base.get(kind, key);
    const object = changed.get(key);
    return object !== undefined && isOfKind(object, kind) ? object : undefined;
  }

  ownerOf(kind: Kind, key: string): string | undefined {
    const changed = this.#changes.get(kind);
    if (!changed?.has(key)) return this.#base.ownerOf(kind, key);
    return changed.get(key) === undefined ? undefined : CONTROL_OWNER;
  }

  *objects<K extends Kind>(kind: K): Generator<ObjectOf<K>> {
    const changed = this.#changes.get(kind);
    for (const object of this.#base.objects(kind)) {
      if (!changed?.has(keyOf(object))) yield object;
    }
    for (const object of changed?.values() ?? []) {
      if (object !== undefined && isOfKind(object, kind)) yield object;
    }
  }

  endpointsOf(groupKey: string): readonly Endpoint[] {
    const before = this.#base.endpointsOf(groupKey);
    const changed = this.#members.get(groupKey);
    if (changed === undefined) return before;
    const others = before.filter((endpoint) => !changed.has(keyOf(endpoint)));
    return [...others, ...[...changed.values()].filter((endpoint) => endpoint !== undefined)];
  }

  #put(kind: Kind, key: string, object: ModelObject | undefined): void {
    const byKey = this.#changes.get(kind) ?? new Map<string, ModelObject | undefined>();
    this.#changes.set(kind, byKey.set(key, object));
    if (kind !== "Endpoint") return;
    const endpoint = object?.kind === "Endpoint" ? object : undefined;
    const group =
      endpoint === undefined ? key.slice(0, key.lastIndexOf("/")) : groupKeyOf(endpoint);
    const members = this.#members.get(group) ?? new Map<string, Endpoint | undefined>();
    this.#members.set(group, members.set(key, endpoint));
  }
}

function isOfKind<K extends Kind>(object: ModelObject, kind: K): object is ObjectOf<K> {
  return object.kind === kind;
}
