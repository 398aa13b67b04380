import { danglingOf, wordsFor } from "../../control/resources/references.ts";
import { Draft, type StateView, viewOf } from "../../control/resources/state-view.ts";
import type { DesiredChange } from "../../control/world.ts";
import { CoreError } from "../../core/errors.ts";
import { describe, type Kind, keyOf, type ModelObject } from "../../core/model/object.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";

/** So many names stand in an error; the rest is counted. */
const MAX_NAMED = 20;

const REFERRING: readonly Kind[] = ["Listener", "Service", "Endpoint"];
const REFERRED: readonly Kind[] = ["Service", "Group", "SecurityGroup", "Certificate"];

/** The ids of what an object leads to and is not there. */
type Missing = (object: ModelObject, after: StateView) => readonly string[];

/**
 * Refuses to delete what something that stays leads to.
 * @throws CoreError ERR_IN_USE with all that is used, and by whom
 */
export function assertNothingUsed(store: GlobalStore, change: DesiredChange): void {
  refuse(store, change, named, "delete those too, or say --force");
}

/**
 * The same for what a file does not have. A group lives by its endpoints alone too, and a service that
 * names no group asks for none.
 * @throws CoreError ERR_IN_USE with all that is used, and by whom
 */
export function assertNothingMissed(store: GlobalStore, change: DesiredChange): void {
  refuse(store, change, missed, "keep it in the file, or change those");
}

function named(object: ModelObject, after: StateView): readonly string[] {
  const ids = danglingOf(object, after, undefined).flatMap(({ kind, key }) =>
    kind === undefined ? [] : [describe(kind, key)],
  );
  // Without groups it leads to the one of its own name.
  const isImplicit = object.kind === "Service" && object.groups.length === 0;
  return isImplicit ? [...ids, describe("Group", keyOf(object))] : ids;
}

function missed(object: ModelObject, after: StateView): readonly string[] {
  return danglingOf(object, after, undefined).flatMap(({ kind, key }) =>
    kind === undefined || (kind === "Group" && after.endpointsOf(key).length > 0)
      ? []
      : [describe(kind, key)],
  );
}

function refuse(
  store: GlobalStore,
  change: DesiredChange,
  missingOf: Missing,
  remedy: string,
): void {
  const gone = change.delete.filter(({ kind }) => REFERRED.includes(kind));
  if (gone.length === 0) return;
  const after = new Draft(viewOf(store));
  after.apply(change);
  const users = new Map<string, string[]>(gone.map(({ kind, key }) => [describe(kind, key), []]));
  // Once over all: what goes may be as much as what stays.
  for (const kind of REFERRING) {
    for (const object of after.objects(kind)) {
      for (const id of missingOf(object, after)) users.get(id)?.push(wordsFor(object));
    }
  }
  const lines = gone.flatMap(({ kind, key }) => {
    const by = users.get(describe(kind, key)) ?? [];
    const object = store.get(kind, key);
    return by.length === 0 || object === undefined
      ? []
      : [`${wordsFor(object)} is used by ${limited(by.sort()).join(", ")}; ${remedy}`];
  });
  if (lines.length > 0) throw new CoreError("ERR_IN_USE", limited(lines).join("\n"));
}

function limited(names: readonly string[]): readonly string[] {
  if (names.length <= MAX_NAMED) return names;
  return [...names.slice(0, MAX_NAMED), `and ${names.length - MAX_NAMED} more`];
}
