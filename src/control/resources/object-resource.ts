import { deepEqual } from "../../core/model/equal.ts";
import { type Kind, keyOf, type ObjectOf } from "../../core/model/object.ts";
import { type Problem, problemsError } from "../../core/model/problems.ts";
import type { EnginePort } from "../engine-port.ts";
import type { ResourceName } from "../resource-names.ts";
import type { Cell, ResultRecord } from "../result.ts";
import { CONTROL_OWNER, type DesiredChange } from "../world.ts";
import {
  type ChangePlans,
  checked,
  NO_CHANGE,
  type Plan,
  type PlanCall,
  type ReadCall,
} from "./desired-resource.ts";
import { type Field, readFields, showFields, updateParams } from "./fields.ts";
import { keyOfName, nameOfKey, nameProblem, type Place, placeOf } from "./names.ts";
import { assertReferences, assertUnused, wordsFor } from "./references.ts";
import { implicitGroup, notFound, notOurs, taken } from "./refusals.ts";
import type { StateView } from "./state-view.ts";

/** A resource that is objects of one kind, each by its own name. */
export interface ObjectResource<K extends Kind> {
  readonly type: ResourceName;
  readonly kind: K;
  readonly fields: readonly Field<ObjectOf<K>>[];
  /** What comes of a name alone, under any name. */
  readonly standard: ObjectOf<K>;
  /** Whether an object of the kind is one of these. */
  readonly isOne: (object: ObjectOf<K>) => boolean;
  /** What one field alone can not show. */
  readonly check?: (object: ObjectOf<K>, problems: Problem[]) => void;
  /** The part that `add` says: others are said by what is added to it. */
  readonly ownPart?: (object: ObjectOf<K>) => object;
  /** What goes with it. */
  readonly inner?: (object: ObjectOf<K>, view: StateView) => DesiredChange["delete"];
  /** What names it and is to name it no more, where it is removed by force. */
  readonly released?: (object: ObjectOf<K>, view: StateView) => DesiredChange["set"];
  /** What `list-detail` shows beside the parameters. */
  readonly details?: (
    engine: EnginePort | undefined,
  ) => (object: ObjectOf<K>) => Readonly<Record<string, Cell>>;
}

/** What comes of a name alone. */
export function standardAt<K extends Kind>(
  resource: ObjectResource<K>,
  { namespace, name }: Place,
): ObjectOf<K> {
  return { ...resource.standard, namespace, name };
}

/** The plans of all four changes. */
export function planners<K extends Kind>(resource: ObjectResource<K>): ChangePlans {
  return {
    add: (call) => planAdd(resource, call),
    update: (call) => planUpdate(resource, call),
    remove: (call) => planRemove(resource, call),
    "force-remove": (call) => planForceRemove(resource, call),
  };
}

function planAdd<K extends Kind>(resource: ObjectResource<K>, call: PlanCall): Plan {
  const { kind, type, ownPart = (object: ObjectOf<K>): object => object } = resource;
  const { command, params, view, options } = call;
  const problem = nameProblem(command.name);
  const standard = standardAt(resource, placeOf(command.name));
  const said = readFields(
    resource.fields,
    standard,
    params,
    problem === undefined ? [] : [problem],
  );
  const object = checkedBy(resource, said);
  const key = keyOf(object);
  const present = view.get(kind, key);
  if (present !== undefined) {
    const owner = view.ownerOf(kind, key) ?? "";
    const isSame =
      options.isLoading && owner === CONTROL_OWNER && deepEqual(ownPart(present), ownPart(object));
    if (isSame) return NO_CHANGE;
    throw taken(`${type} ${command.name}`, `${wordsFor(present)}${ofOther(owner)}`);
  }
  if (!options.isLoading) assertReferences(object, undefined, view, call.loopGroups);
  return { set: [object], delete: [], note: "" };
}

function ofOther(owner: string): string {
  return owner === CONTROL_OWNER ? "" : ` of the source ${JSON.stringify(owner)}`;
}

function planUpdate<K extends Kind>(resource: ObjectResource<K>, call: PlanCall): Plan {
  const { params, view, options } = call;
  const present = findOurs(resource, call.command.name, view);
  assertSomethingSaid(call, resource.fields);
  const object = checkedBy(resource, readFields(resource.fields, present, params));
  if (!options.isLoading) assertReferences(object, present, view, call.loopGroups);
  return { set: [object], delete: [], note: "" };
}

function planRemove<K extends Kind>(resource: ObjectResource<K>, call: PlanCall): Plan {
  const { command, view } = call;
  const object = findOurs(resource, command.name, view);
  assertUnused(object, view);
  return { set: [], delete: removalOf(resource, object, view), note: "" };
}

/** Whoever uses it, and whatever a data plane then can not do for those. */
function planForceRemove<K extends Kind>(resource: ObjectResource<K>, call: PlanCall): Plan {
  const { command, view } = call;
  const object = findOurs(resource, command.name, view);
  const set = resource.released?.(object, view) ?? [];
  return { set, delete: removalOf(resource, object, view), note: "", tolerates: true };
}

function removalOf<K extends Kind>(
  resource: ObjectResource<K>,
  object: ObjectOf<K>,
  view: StateView,
): DesiredChange["delete"] {
  const inner = resource.inner?.(object, view) ?? [];
  return [...inner, { kind: object.kind, key: keyOf(object) }];
}

function checkedBy<K extends Kind>(resource: ObjectResource<K>, said: ObjectOf<K>): ObjectOf<K> {
  const problems: Problem[] = [];
  resource.check?.(said, problems);
  if (problems.length > 0) throw problemsError("ERR_USAGE", problems);
  return checked(resource.kind, said);
}

/** @throws CoreError ERR_USAGE where an `update` says nothing */
export function assertSomethingSaid<O>(call: PlanCall, fields: readonly Field<O>[]): void {
  if (!call.params.isEmpty) return;
  const names = updateParams(fields).map(({ name }) => name);
  const problem: Problem = {
    path: [],
    fault: "malformed",
    value: "nothing to change",
    expected: `at least one of ${names.join(", ")}`,
  };
  throw problemsError("ERR_USAGE", [problem]);
}

/** Whether a service keeps its servers in a group that nobody named: files can say it so. */
function hasImplicitGroup(view: StateView, name: string): boolean {
  return view.get("Service", keyOfName(name))?.groups.length === 0;
}

/** The object of a name, whoever owns it. @throws CoreError ERR_NOT_FOUND */
export function find<K extends Kind>(
  resource: ObjectResource<K>,
  name: string,
  view: StateView,
): ObjectOf<K> {
  const object = view.get(resource.kind, keyOfName(name));
  if (object !== undefined && resource.isOne(object)) return object;
  if (object === undefined) {
    if (resource.kind === "Group" && hasImplicitGroup(view, name)) throw implicitGroup(name);
    throw notFound(resource.type, name, namesOf(resource, view));
  }
  throw notFound(resource.type, name, namesOf(resource, view), wordsFor(object));
}

/** The same where it is to be changed. @throws CoreError ERR_NOT_FOUND, ERR_NOT_OURS */
export function findOurs<K extends Kind>(
  resource: ObjectResource<K>,
  name: string,
  view: StateView,
): ObjectOf<K> {
  const object = find(resource, name, view);
  const owner = view.ownerOf(resource.kind, keyOf(object)) ?? "";
  if (owner !== CONTROL_OWNER) throw notOurs(wordsFor(object), owner);
  return object;
}

export function namesOf<K extends Kind>(
  resource: ObjectResource<K>,
  view: StateView,
): readonly string[] {
  return sortedObjects(resource, view).map((object) => nameOfKey(keyOf(object)));
}

export function recordsOf<K extends Kind>(
  resource: ObjectResource<K>,
  { view, engine }: ReadCall,
): readonly ResultRecord[] {
  const details = resource.details?.(engine);
  return sortedObjects(resource, view).map((object) => ({
    name: nameOfKey(keyOf(object)),
    ...showFields(resource.fields, object),
    ...details?.(object),
    owner: view.ownerOf(resource.kind, keyOf(object)) ?? "",
  }));
}

/** In the order of their names. */
function sortedObjects<K extends Kind>(
  resource: ObjectResource<K>,
  view: StateView,
): ObjectOf<K>[] {
  const named: [string, ObjectOf<K>][] = [];
  for (const object of view.objects(resource.kind)) {
    if (resource.isOne(object)) named.push([nameOfKey(keyOf(object)), object]);
  }
  return named.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
}
