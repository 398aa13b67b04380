import { viewOf } from "../../control/resources/state-view.ts";
import {
  attachedOf,
  ourEndpoints,
  ownEndpoints,
  withAttached,
} from "../../control/resources/upstream.ts";
import { CONTROL_OWNER, type DesiredChange } from "../../control/world.ts";
import { CoreError } from "../../core/errors.ts";
import { deepEqual } from "../../core/model/equal.ts";
import { describe, KINDS, type Kind, keyOf, type ModelObject } from "../../core/model/object.ts";
import { checkObject } from "../../core/model/parse.ts";
import { type Problem, problemsError } from "../../core/model/problems.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import type { ChangedObject, ObjectName } from "../instance-socket/state-protocol.ts";
import { assertNothingMissed, assertNothingUsed } from "./refuse-used.ts";

/** So many names stand in an error; the rest is counted. */
const MAX_NAMED = 20;

/** @throws CoreError ERR_STATE_INVALID with all problems */
export function parseObjects(raw: readonly unknown[]): readonly ModelObject[] {
  const objects: ModelObject[] = [];
  const problems: Problem[] = [];
  for (const [index, one] of raw.entries()) {
    const checked = checkObject(one, ["objects", index]);
    if (checked.ok) objects.push(checked.value);
    else problems.push(...checked.problems);
  }
  if (problems.length > 0) throw problemsError("ERR_STATE_INVALID", problems);
  return objects;
}

/**
 * The fewest changes that make the objects so.
 * @param prune whether all else of the owner goes
 * @throws CoreError ERR_NOT_OURS, ERR_IN_USE
 */
export function planApply(
  store: GlobalStore,
  objects: readonly ModelObject[],
  { prune }: { readonly prune: boolean },
): DesiredChange {
  const wanted = new Map(objects.map((object) => [describe(object.kind, keyOf(object)), object]));
  refuseOthers(
    store,
    [...wanted.values()].map((object) => ({ kind: object.kind, key: keyOf(object) })),
  );
  const set = [...wanted.values()].filter(
    (object) => !deepEqual(store.get(object.kind, keyOf(object)), object),
  );
  const gone = prune
    ? ownNames(store).filter(({ kind, key }) => !wanted.has(describe(kind, key)))
    : [];
  const change = { set, delete: gone };
  assertNothingMissed(store, change);
  return change;
}

/**
 * What is named, with what belongs to it.
 * @param force whether also what others lead to; as with `force-remove` services forget groups that go
 * @throws CoreError ERR_NOT_FOUND, ERR_NOT_OURS, ERR_IN_USE
 */
export function planDelete(
  store: GlobalStore,
  names: readonly ObjectName[],
  { force = false }: { readonly force?: boolean | undefined } = {},
): DesiredChange {
  const missing = names.filter(({ kind, key }) => store.get(kind, key) === undefined);
  if (missing.length > 0) {
    throw new CoreError("ERR_NOT_FOUND", `not there: ${enumerate(missing)}`);
  }
  refuseOthers(store, names);
  const all = names.flatMap((name) => [...membersOf(store, name), name]);
  const byId = new Map(all.map((name) => [describe(name.kind, name.key), name]));
  const change = { set: [], delete: [...byId.values()] };
  if (force) return { ...change, set: withoutGroups(store, byId), tolerates: true };
  assertNothingUsed(store, change);
  return change;
}

/** The endpoints that go with it. */
function membersOf(store: GlobalStore, { kind, key }: ObjectName): readonly ObjectName[] {
  if (kind === "Group") return ourEndpoints(key, viewOf(store));
  const object = store.get(kind, key);
  return object?.kind === "Service" ? ownEndpoints(object, viewOf(store)) : [];
}

/** The services that stay and send to groups that go, as they are without them. */
function withoutGroups(
  store: GlobalStore,
  gone: ReadonlyMap<string, ObjectName>,
): readonly ModelObject[] {
  const changed: ModelObject[] = [];
  const view = viewOf(store);
  for (const service of view.objects("Service")) {
    const key = keyOf(service);
    const isOurs = view.ownerOf("Service", key) === CONTROL_OWNER;
    if (!isOurs || gone.has(describe("Service", key))) continue;
    const before = attachedOf(service);
    const after = before.filter(({ group }) => !gone.has(describe("Group", group)));
    if (after.length < before.length) changed.push(withAttached(service, after));
  }
  return changed;
}

/** What a change comes to, as it is told. */
export function describeChange(
  store: GlobalStore,
  change: DesiredChange,
): readonly ChangedObject[] {
  const sets = change.set.map((after): ChangedObject => {
    const key = keyOf(after);
    const before = store.get(after.kind, key);
    return before === undefined
      ? { action: "create", kind: after.kind, key, after }
      : { action: "update", kind: after.kind, key, before, after };
  });
  const deletes = change.delete.map(({ kind, key }): ChangedObject => {
    const before = store.get(kind, key);
    return { action: "delete", kind, key, ...(before && { before }) };
  });
  return [...sets, ...deletes];
}

function ownNames(store: GlobalStore): readonly ObjectName[] {
  return KINDS.flatMap((kind) => [...namesOf(store, kind)]);
}

function* namesOf(store: GlobalStore, kind: Kind): Generator<ObjectName> {
  for (const object of store.objects(kind)) {
    const key = keyOf(object);
    if (store.ownerOf(kind, key) === CONTROL_OWNER) yield { kind, key };
  }
}

function refuseOthers(store: GlobalStore, names: readonly ObjectName[]): void {
  const others = names.flatMap(({ kind, key }) => {
    const owner = store.ownerOf(kind, key);
    return owner === undefined || owner === CONTROL_OWNER ? [] : [{ kind, key, owner }];
  });
  if (others.length === 0) return;
  const lines = others
    .slice(0, MAX_NAMED)
    .map(({ kind, key, owner }) => `${describe(kind, key)} is of ${owner}: change it there`);
  if (others.length > MAX_NAMED) lines.push(`and ${others.length - MAX_NAMED} more`);
  throw new CoreError("ERR_NOT_OURS", lines.join("\n"));
}

function enumerate(names: readonly ObjectName[]): string {
  const named = names.slice(0, MAX_NAMED).map(({ kind, key }) => describe(kind, key));
  const more = names.length - named.length;
  return more > 0 ? `${named.join(", ")} and ${more} more` : named.join(", ");
}
