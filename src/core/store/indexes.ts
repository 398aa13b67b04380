import type { Certificate } from "../model/certificate.ts";
import { EMPTY } from "../model/common.ts";
import type { Endpoint } from "../model/endpoint.ts";
import type { Listener } from "../model/listener.ts";
import type { Node } from "../model/node.ts";
import { groupKeyOf, type Kind, type ModelObject } from "../model/object.ts";
import type { SecurityGroup } from "../model/security-group.ts";
import { groupsOf } from "../model/service.ts";
import type { ObjectChange } from "./resolution.ts";
import type { GroupState, ServiceState } from "./state.ts";

/** The tables of the store that the indexes read. */
interface Lookup {
  get(kind: Kind, key: string): ModelObject | undefined;
}

/** From this many changes on, a group's endpoints are sorted anew instead of one by one. */
const BULK_CHANGES = 8;

/**
 * Services with the groups and endpoints they lead to, kept up to date by the changes of each
 * transaction. Every state is immutable: one that changed is a new object, all others stay.
 */
export class Indexes {
  readonly #lookup: Lookup;
  readonly groups: Map<string, GroupState> = new Map();
  readonly services: Map<string, ServiceState> = new Map();
  readonly listeners: Map<string, Listener> = new Map();
  readonly nodes: Map<string, Node> = new Map();
  readonly securityGroups: Map<string, SecurityGroup> = new Map();
  readonly certificates: Map<string, Certificate> = new Map();
  readonly #servicesOfGroup = new Map<string, Set<string>>();
  readonly #listenersOfService = new Map<string, number>();

  constructor(lookup: Lookup) {
    this.#lookup = lookup;
  }

  /** Takes the changes in; returns each service they touched with its state before. */
  apply(changes: readonly ObjectChange[]): Map<string, ServiceState | undefined> {
    const services = new Set<string>();
    const touched = new TouchedGroups();
    for (const change of changes) this.#note(change, services, touched);
    for (const [key, members] of touched.groups) this.#rebuildGroup(key, members);
    for (const key of touched.groups.keys()) {
      for (const service of this.#servicesOfGroup.get(key) ?? []) services.add(service);
    }
    const befores = new Map<string, ServiceState | undefined>();
    for (const key of services) {
      const before = this.services.get(key);
      const after = this.#serviceState(key);
      if (before === undefined && after === undefined) continue;
      befores.set(key, before);
      put(this.services, key, after);
    }
    return befores;
  }

  #note(change: ObjectChange, services: Set<string>, touched: TouchedGroups): void {
    const { kind, key, before, after } = change;
    switch (kind) {
      case "Service":
        services.add(key);
        this.#attach(key, before, -1);
        this.#attach(key, after, 1);
        return;
      case "Group":
        touched.add(key);
        return;
      case "Endpoint":
        touched.addMember(change);
        return;
      case "Listener":
        this.#countListener(before, -1, services);
        this.#countListener(after, 1, services);
        put(this.listeners, key, after?.kind === kind ? after : undefined);
        return;
      case "Node":
        put(this.nodes, key, after?.kind === kind ? after : undefined);
        return;
      case "SecurityGroup":
        put(this.securityGroups, key, after?.kind === kind ? after : undefined);
        return;
      case "Certificate":
        put(this.certificates, key, after?.kind === kind ? after : undefined);
        return;
    }
  }

  #attach(key: string, service: ModelObject | undefined, by: 1 | -1): void {
    if (service?.kind !== "Service") return;
    for (const { group } of groupsOf(service)) {
      const services = this.#servicesOfGroup.get(group) ?? new Set();
      if (by === 1) services.add(key);
      else services.delete(key);
      if (services.size === 0) this.#servicesOfGroup.delete(group);
      else this.#servicesOfGroup.set(group, services);
    }
  }

  #countListener(listener: ModelObject | undefined, by: number, services: Set<string>): void {
    if (listener?.kind !== "Listener") return;
    const count = (this.#listenersOfService.get(listener.service) ?? 0) + by;
    if (count === 0) this.#listenersOfService.delete(listener.service);
    else this.#listenersOfService.set(listener.service, count);
    if (this.#lookup.get("Service", listener.service) !== undefined) services.add(listener.service);
  }

  #rebuildGroup(key: string, members: readonly ObjectChange[]): void {
    const group = this.#lookup.get("Group", key);
    const present = this.groups.get(key) ?? emptyGroup(key);
    const state = {
      ...withChanges(present, members),
      group: group?.kind === "Group" ? group : undefined,
    };
    put(
      this.groups,
      key,
      state.group === undefined && state.endpoints.length === 0 ? undefined : state,
    );
  }

  #serviceState(key: string): ServiceState | undefined {
    const service = this.#lookup.get("Service", key);
    if (service?.kind !== "Service") return undefined;
    const groups = groupsOf(service).map((ref) => ({
      ref,
      state: this.groups.get(ref.group) ?? emptyGroup(ref.group),
    }));
    return { key, service, listened: this.#listenersOfService.has(key), groups };
  }
}

/** The groups that a transaction touches, each with the changes of its endpoints. */
class TouchedGroups {
  readonly groups: Map<string, ObjectChange[]> = new Map();
  /** Endpoints of one group mostly come one after the other. */
  #last: { readonly endpoint: Endpoint; readonly members: ObjectChange[] } | undefined;

  add(key: string): ObjectChange[] {
    const members = this.groups.get(key) ?? [];
    this.groups.set(key, members);
    return members;
  }

  addMember(change: ObjectChange): void {
    const endpoint = change.after ?? change.before;
    if (endpoint?.kind !== "Endpoint") return;
    const last = this.#last?.endpoint;
    if (last?.group !== endpoint.group || last.namespace !== endpoint.namespace) {
      this.#last = { endpoint, members: this.add(groupKeyOf(endpoint)) };
    }
    this.#last?.members.push(change);
  }
}

function put<V>(table: Map<string, V>, key: string, value: V | undefined): void {
  if (value === undefined) table.delete(key);
  else table.set(key, value);
}

function emptyGroup(key: string): GroupState {
  return { key, group: undefined, endpoints: EMPTY, endpointKeys: EMPTY };
}

function withChanges(present: GroupState, changes: readonly ObjectChange[]): GroupState {
  if (changes.length === 0) return present;
  if (changes.length >= BULK_CHANGES) return withManyChanges(present, changes);
  const endpoints = [...present.endpoints];
  const endpointKeys = [...present.endpointKeys];
  for (const { key, after } of changes) {
    const at = lowerBound(endpointKeys, key);
    const gone = endpointKeys[at] === key ? 1 : 0;
    if (after?.kind === "Endpoint") {
      endpoints.splice(at, gone, after);
      endpointKeys.splice(at, gone, key);
    } else {
      endpoints.splice(at, gone);
      endpointKeys.splice(at, gone);
    }
  }
  return { ...present, endpoints, endpointKeys };
}

function withManyChanges(present: GroupState, changes: readonly ObjectChange[]): GroupState {
  if (present.endpoints.length === 0) return { ...present, ...sorted(changes) };
  const members = new Map<string, Endpoint>();
  for (const [index, endpoint] of present.endpoints.entries()) {
    members.set(present.endpointKeys[index] ?? "", endpoint);
  }
  for (const { key, after } of changes) {
    put(members, key, after?.kind === "Endpoint" ? after : undefined);
  }
  const endpointKeys = [...members.keys()].sort();
  const endpoints = endpointKeys.flatMap((key) => members.get(key) ?? []);
  return { ...present, endpoints, endpointKeys };
}

/** The endpoints of a group that is new. Most come in order: then one pass is enough. */
function sorted(changes: readonly ObjectChange[]): Pick<GroupState, "endpoints" | "endpointKeys"> {
  const isSorted = changes.every(({ key }, index) => key > (changes[index - 1]?.key ?? ""));
  const inOrder = isSorted ? changes : changes.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const endpoints: Endpoint[] = [];
  const endpointKeys: string[] = [];
  for (const { key, after } of inOrder) {
    if (after?.kind !== "Endpoint") continue;
    endpoints.push(after);
    endpointKeys.push(key);
  }
  return { endpoints, endpointKeys };
}

/** The first place whose key is not below `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
