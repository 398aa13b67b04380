import { deepEqual } from "../../core/model/equal.ts";
import { keyOf } from "../../core/model/object.ts";
import { NO_HINTS } from "../../core/model/route-hints.ts";
import type { GroupRef, Service } from "../../core/model/service.ts";
import type { Action, ResourceRef } from "../command.ts";
import type { ActionSpec } from "../resource-spec.ts";
import type { ResultRecord } from "../result.ts";
import { actionsOf } from "./actions.ts";
import { hintAnnotations } from "./annotations.ts";
import {
  type ChangePlans,
  checked,
  NO_CHANGE,
  type Plan,
  type PlanCall,
  type ReadCall,
} from "./desired-resource.ts";
import { type Field, integer, readFields, showFields } from "./fields.ts";
import { hintFields } from "./group-fields.ts";
import { keyOfName, nameOfKey } from "./names.ts";
import { assertSomethingSaid, find, findOurs, type ObjectResource } from "./object-resource.ts";
import { assertReferences, NO_GROUP, wordsFor } from "./references.ts";
import { notFound, taken } from "./refusals.ts";
import { SERVICES } from "./service.ts";
import type { StateView } from "./state-view.ts";
import { attachedOf, UPSTREAMS, withAttached } from "./upstream.ts";

const STANDARD_WEIGHT = 10;
const HINTS = hintFields<GroupRef>();

/** What is typed of a group in an upstream. */
export const ATTACHED_FIELDS: readonly Field<GroupRef>[] = [
  integer(
    {
      name: "weight",
      field: "weight",
      min: 0,
      max: 65_535,
      help: "Share of the requests among the groups of the upstream; 0 for none",
      standard: String(STANDARD_WEIGHT),
    },
    {
      get: ({ weight }) => weight,
      set: (ref, weight) => ({ ...ref, weight }),
    },
  ),
  ...HINTS,
  hintAnnotations(HINTS),
];

export const ATTACHED_ACTIONS: Partial<Record<Action, ActionSpec>> = actionsOf(ATTACHED_FIELDS, {
  one: "a server group that an upstream or a service sends to",
  many: "server groups that an upstream or a service sends to",
  place: " to upstream u0",
  example: "server-group g0",
  add: [
    "add server-group g0 to upstream u0 weight 10",
    "add server-group g0 to upstream u0 weight 10 hint-host a.example",
    'add server-group g0 to upstream u0 annotations {"vproxy/hint-host":"a.example"}',
  ],
  update: ["update server-group g0 in upstream u0 weight 5"],
  remove: "; the group itself stays",
});

/** What a group is attached to, of what was named. */
function holderResource({ type }: ResourceRef): ObjectResource<"Service"> {
  return type === "service" ? SERVICES : UPSTREAMS;
}

function ourHolder({ within, view }: PlanCall): Service {
  const [holder] = within;
  if (holder === undefined) throw new TypeError("no upstream is named");
  return findOurs(holderResource(holder), holder.name, view);
}

export const ATTACHED_PLANS: ChangePlans = {
  add: planAttach,
  update: planUpdate,
  remove: planDetach,
  "force-remove": planDetach,
};

function planAttach(call: PlanCall): Plan {
  const { command, params, options } = call;
  const service = ourHolder(call);
  const standard = standardAttachment(keyOfName(command.name));
  if (standard.group === NO_GROUP) throw notFound("server-group", command.name, []);
  const ref = readFields(ATTACHED_FIELDS, standard, params);
  const refs = attachedOf(service);
  const present = refs.find(({ group }) => group === ref.group);
  if (present !== undefined) {
    if (options.isLoading && deepEqual(present, ref)) return NO_CHANGE;
    throw taken(`server-group ${command.name}`, `the one that ${wordsFor(service)} has already`);
  }
  return planWith(call, service, [...refs, ref]);
}

/** What comes of the name of a group alone. */
export function standardAttachment(group: string): GroupRef {
  return { group, weight: STANDARD_WEIGHT, hints: NO_HINTS };
}

function planUpdate(call: PlanCall): Plan {
  const service = ourHolder(call);
  const present = attachmentIn(service, call.command.name);
  assertSomethingSaid(call, ATTACHED_FIELDS);
  const ref = readFields(ATTACHED_FIELDS, present, call.params);
  return planWith(
    call,
    service,
    attachedOf(service).map((each) => (each === present ? ref : each)),
  );
}

function planDetach(call: PlanCall): Plan {
  const service = ourHolder(call);
  const present = attachmentIn(service, call.command.name);
  return planWith(
    call,
    service,
    attachedOf(service).filter((each) => each !== present),
  );
}

function planWith(call: PlanCall, before: Service, refs: readonly GroupRef[]): Plan {
  const service = checked("Service", withAttached(before, refs));
  if (!call.options.isLoading) assertReferences(service, before, call.view, call.loopGroups);
  return { set: [service], delete: [], note: noteOf(before, service, call.view) };
}

/** A service that is given a group sends no more to the endpoints of its own name. */
function noteOf(before: Service, service: Service, view: StateView): string {
  const leftOut = before.groups.length === 0 && service.groups.length > 0;
  const count = leftOut ? view.endpointsOf(keyOf(service)).length : 0;
  return count === 0 ? "" : `${wordsFor(service)} sends no more to its own ${count} endpoints`;
}

function attachmentIn(service: Service, name: string): GroupRef {
  const key = keyOfName(name);
  const refs = attachedOf(service);
  const present = refs.find(({ group }) => group === key);
  if (present !== undefined) return present;
  const known = refs.map(({ group }) => nameOfKey(group));
  throw notFound(`server-group in ${wordsFor(service)}`, name, known);
}

function holderOf(within: readonly ResourceRef[], view: StateView): Service {
  const [holder] = within;
  if (holder === undefined) throw new TypeError("no upstream is named");
  return find(holderResource(holder), holder.name, view);
}

/** In the order in which they were added. */
export function attachedNames({ within, view }: ReadCall): readonly string[] {
  return attachedOf(holderOf(within, view)).map(({ group }) => nameOfKey(group));
}

export function attachedRecords({ within, view }: ReadCall): readonly ResultRecord[] {
  const fields = ATTACHED_FIELDS.filter(({ specs: [{ name }] }) => name !== "annotations");
  return attachedOf(holderOf(within, view)).map((ref) => ({
    name: nameOfKey(ref.group),
    ...showFields(fields, ref),
  }));
}
