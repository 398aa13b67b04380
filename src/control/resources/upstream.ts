import { groupKeyOf, keyOf } from "../../core/model/object.ts";
import { parseKind } from "../../core/model/parse.ts";
import { NO_HINTS } from "../../core/model/route-hints.ts";
import type { GroupRef, Service } from "../../core/model/service.ts";
import { CONTROL_OWNER, type DesiredChange } from "../world.ts";
import { actionsOf } from "./actions.ts";
import type { DesiredResource } from "./desired-resource.ts";
import { nameOfKey } from "./names.ts";
import { namesOf, type ObjectResource, planners, recordsOf } from "./object-resource.ts";
import { NO_GROUP } from "./references.ts";
import type { StateView } from "./state-view.ts";

const NOWHERE: GroupRef = { group: NO_GROUP, weight: 0, hints: NO_HINTS };
/** Listeners of any mode use the one port of an upstream, whatever its number. */
const ANY_PORT = 1;

/** The groups that people have attached. */
export function attachedOf(service: Service): readonly GroupRef[] {
  return service.groups.filter(({ group }) => group !== NO_GROUP);
}

/** Without groups an upstream leads nowhere, and a service to the endpoints of its own name. */
export function withAttached(service: Service, groups: readonly GroupRef[]): Service {
  return { ...service, groups: groups.length === 0 ? standardGroups(service) : groups };
}

function standardGroups({ type }: Service): readonly GroupRef[] {
  return type === "Plain" ? [NOWHERE] : [];
}

/** What `add` says of a service: its groups are attached by commands of their own. */
export function withoutGroups(service: Service): Omit<Service, "groups"> {
  const { groups: _attached, ...rest } = service;
  return rest;
}

/** A service's own endpoints, unless a group of that name has them. */
export function ownEndpoints(service: Service, view: StateView): DesiredChange["delete"] {
  const key = `${service.namespace}/${service.name}`;
  if (view.get("Group", key) !== undefined) return [];
  return ourEndpoints(key, view);
}

/** The endpoints of a group that commands have made. */
export function ourEndpoints(groupKey: string, view: StateView): DesiredChange["delete"] {
  return view
    .endpointsOf(groupKey)
    .map(
      (endpoint) =>
        ({ kind: "Endpoint", key: `${groupKeyOf(endpoint)}/${endpoint.name}` }) as const,
    )
    .filter(({ kind, key }) => view.ownerOf(kind, key) === CONTROL_OWNER);
}

/** The upstreams and services of commands that send to a group, as they are without it. */
export function withoutGroup(groupKey: string, view: StateView): readonly Service[] {
  const users: Service[] = [];
  for (const service of view.objects("Service")) {
    const refs = attachedOf(service);
    const others = refs.filter(({ group }) => group !== groupKey);
    const isOurs = view.ownerOf("Service", keyOf(service)) === CONTROL_OWNER;
    if (isOurs && others.length < refs.length) users.push(withAttached(service, others));
  }
  return users;
}

export const UPSTREAMS: ObjectResource<"Service"> = {
  type: "upstream",
  kind: "Service",
  fields: [],
  standard: parseKind("Service", {
    name: "-",
    type: "Plain",
    ports: [{ port: ANY_PORT }],
    groups: [NOWHERE],
  }),
  isOne: ({ type }) => type === "Plain",
  ownPart: withoutGroups,
  inner: ownEndpoints,
  details: () => (service) => ({
    "server-groups": attachedOf(service).map(({ group }) => nameOfKey(group)),
  }),
};

const { update: _nothing, ...PLANS } = planners(UPSTREAMS);

export const UPSTREAM: DesiredResource = {
  spec: {
    name: "upstream",
    shorts: ["ups"],
    summary: "Server groups, by weight and by what a request asks for, that listeners send to",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [[]],
        actions: actionsOf(UPSTREAMS.fields, {
          one: "an upstream",
          many: "upstreams",
          place: "",
          example: "upstream u0",
          add: ["add upstream u0"],
          update: [],
          remove: "; refused while a listener sends to it",
        }),
      },
    ],
  },
  plans: PLANS,
  names: ({ view }) => namesOf(UPSTREAMS, view),
  records: (call) => recordsOf(UPSTREAMS, call),
};
