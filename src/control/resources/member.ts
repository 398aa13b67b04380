import type { Endpoint } from "../../core/model/endpoint.ts";
import { deepEqual } from "../../core/model/equal.ts";
import { keyOf } from "../../core/model/object.ts";
import { parseKind } from "../../core/model/parse.ts";
import type { ResourceRef } from "../command.ts";
import type { EnginePort, ServerState } from "../engine-port.ts";
import type { ResourceName } from "../resource-names.ts";
import type { Cell, ResultRecord } from "../result.ts";
import { CONTROL_OWNER } from "../world.ts";
import {
  type ChangePlans,
  checked,
  NO_CHANGE,
  type Plan,
  type PlanCall,
  type ReadCall,
} from "./desired-resource.ts";
import { type Field, readFields, showFields } from "./fields.ts";
import { innerNameProblem, keyOfName, placeOf } from "./names.ts";
import { assertSomethingSaid } from "./object-resource.ts";
import { assertUnused } from "./references.ts";
import { notFound, notOurs, taken } from "./refusals.ts";
import type { StateView } from "./state-view.ts";

/** What lives in a group: a server of a server group, or an endpoint of a service. */
const US_PER_MS = 1000;

export interface MemberResource {
  readonly type: ResourceName;
  readonly fields: readonly Field<Endpoint>[];
  readonly standardWeight: number;
  /** Looks whether it is there. @throws CoreError ERR_NOT_FOUND */
  readonly assertHolder: (holder: ResourceRef, view: StateView) => void;
  /** Looks whether things may be put there. @throws CoreError ERR_NOT_FOUND, ERR_NOT_OURS */
  readonly assertOurHolder: (holder: ResourceRef, view: StateView) => void;
  /** What there is to say of one that was added; empty: nothing. */
  readonly noteOf: (holder: ResourceRef, view: StateView) => string;
}

const STANDARD = parseKind("Endpoint", { name: "-", group: "-", addresses: ["127.0.0.1"] });

/** What comes of the name of a member alone. */
export function standardMember(resource: MemberResource, group: string, name: string): Endpoint {
  const { namespace, name: groupName } = placeOf(group);
  return { ...STANDARD, namespace, name, group: groupName, weight: resource.standardWeight };
}

export function memberPlans(resource: MemberResource): ChangePlans {
  return {
    add: (call) => planAdd(resource, call),
    update: (call) => planUpdate(resource, call),
    remove: (call) => planRemove(resource, call),
    "force-remove": (call) => planRemove(resource, call),
  };
}

function holderOf({ within }: Pick<PlanCall, "within">): ResourceRef {
  const [holder] = within;
  if (holder === undefined) throw new TypeError("nothing is named that it is in");
  return holder;
}

function planAdd(resource: MemberResource, call: PlanCall): Plan {
  const { command, params, view, options } = call;
  const holder = holderOf(call);
  const problem = innerNameProblem(command.name);
  const problems = problem === undefined ? [] : [problem];
  const standard = standardMember(resource, holder.name, command.name);
  const said = readFields(resource.fields, standard, params, problems);
  resource.assertOurHolder(holder, view);
  const member = checked("Endpoint", said);
  const present = view.get("Endpoint", keyOf(member));
  if (present !== undefined) {
    const owner = view.ownerOf("Endpoint", keyOf(member)) ?? "";
    const isSame = options.isLoading && owner === CONTROL_OWNER && deepEqual(present, member);
    if (isSame) return NO_CHANGE;
    throw taken(
      `${resource.type} ${command.name}`,
      `one that ${holder.type} ${holder.name} has already (${owner})`,
    );
  }
  return { set: [member], delete: [], note: resource.noteOf(holder, view) };
}

function planUpdate(resource: MemberResource, call: PlanCall): Plan {
  const present = findOurs(resource, call);
  assertSomethingSaid(call, resource.fields);
  const member = checked("Endpoint", readFields(resource.fields, present, call.params));
  return { set: [member], delete: [], note: "" };
}

function planRemove(resource: MemberResource, call: PlanCall): Plan {
  const present = findOurs(resource, call);
  if (call.command.action === "remove") assertUnused(present, call.view);
  return { set: [], delete: [{ kind: "Endpoint", key: keyOf(present) }], note: "" };
}

function findOurs(resource: MemberResource, call: PlanCall): Endpoint {
  const { command, view } = call;
  const holder = holderOf(call);
  resource.assertHolder(holder, view);
  const key = `${keyOfName(holder.name)}/${command.name}`;
  const present = view.get("Endpoint", key);
  const place = `${resource.type} in ${holder.type} ${holder.name}`;
  if (present === undefined) throw notFound(place, command.name, memberNames(resource, call));
  const owner = view.ownerOf("Endpoint", key) ?? "";
  if (owner !== CONTROL_OWNER) {
    throw notOurs(`${resource.type} ${command.name} in ${holder.type} ${holder.name}`, owner);
  }
  return present;
}

/** In order. */
function membersOf(resource: MemberResource, call: Pick<ReadCall, "within" | "view">): Endpoint[] {
  const holder = holderOf(call);
  resource.assertHolder(holder, call.view);
  const members = [...call.view.endpointsOf(keyOfName(holder.name))];
  return members.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function memberNames(
  resource: MemberResource,
  call: Pick<ReadCall, "within" | "view">,
): readonly string[] {
  return membersOf(resource, call).map(({ name }) => name);
}

export function memberRecords(resource: MemberResource, call: ReadCall): readonly ResultRecord[] {
  const { view, engine } = call;
  const states = engine?.servers();
  return membersOf(resource, call).map((member) => ({
    name: member.name,
    ...showFields(resource.fields, member),
    ...stateCells(engine, states?.get(keyOf(member))),
    owner: view.ownerOf("Endpoint", keyOf(member)) ?? "",
  }));
}

/** To a microsecond: what is behind that is noise. */
function roundMs(ms: number): number {
  return Math.round(ms * US_PER_MS) / US_PER_MS;
}

/** What the engine knows of a server; where there is no engine nobody knows. */
function stateCells(
  engine: EnginePort | undefined,
  state: ServerState | undefined,
): Readonly<Record<string, Cell>> {
  return {
    health: state?.health ?? (engine === undefined ? "unknown" : "unused"),
    reason: state?.reason ?? "",
    latency: state?.meanLatencyMs === undefined ? "" : roundMs(state.meanLatencyMs),
    connections: state?.connections ?? 0,
    "total-connections": state?.totalConnections ?? 0,
    "bytes-in": state?.bytesIn ?? 0,
    "bytes-out": state?.bytesOut ?? 0,
    failures: state?.failures ?? 0,
  };
}
