import { FAMILIES, type Family, familyOf } from "../model/address.ts";
import { type Endpoint, GROUP_MARK } from "../model/endpoint.ts";
import { deepEqual } from "../model/equal.ts";
import { groupKeyOf, keyOf } from "../model/object.ts";
import { isExternallyReachable, type Service } from "../model/service.ts";
import type { ServiceState } from "../store/state.ts";
import { addressIn, type Candidates, candidatesFor, isServingTerminating } from "./candidates.ts";
import type { EndingPlace, NodeEndpoint, NodeEndpointPort, NodeService, SetOp } from "./ops.ts";
import {
  endpointsOf,
  hasLocalReadyEndpoint,
  isInCluster,
  isInLocal,
  isLocal,
  type NodePlace,
  type Topology,
  topologyFor,
} from "./select.ts";

export type ServiceOp = Extract<SetOp, { set: "services" }>;
export type EndpointOp = Extract<SetOp, { set: "endpoints" }>;

/** What one node is to be sent of a service; endpoints in ascending order of their paths. */
export interface ServiceView {
  readonly service: ServiceOp;
  readonly endpoints: readonly EndpointOp[];
}

/** The candidates of one port in one family. */
interface Lane {
  readonly portIndex: number;
  readonly family: Family;
  readonly candidates: Candidates;
}

interface LaneOnNode {
  readonly candidates: Candidates;
  readonly topology: Topology;
  readonly hasLocalReady: boolean;
}

/** How an endpoint is used: for each lane one of `-`, `c` (Cluster list), `l` (Local list), `b` (both). */
type Uses = string;

/** The ports of all endpoints that are used in one way, and which of them was the first. */
interface PortList {
  readonly at: number;
  readonly uses: Uses;
  readonly ports: readonly NodeEndpointPort[];
}

/** One array for each set of families, so that equal ones are identical. */
const FAMILY_LISTS: Readonly<Record<string, readonly Family[]>> = {
  "": [],
  v4: ["v4"],
  v6: ["v6"],
  v4v6: FAMILIES,
};

/**
 * What the views of a service on all nodes have in common, worked out once for a state. The view of a
 * node costs only a look at each endpoint, and nodes that see the same share the same objects.
 */
class ServicePlan {
  readonly service: ServiceOp;
  readonly #endpoints: readonly Endpoint[];
  /** The paths of the endpoints, ascending. */
  readonly #paths: readonly string[];
  /** The one group of the service; undefined where it has several. */
  readonly #onlyGroup: string | undefined;
  readonly #lanes: readonly Lane[];
  /** Each endpoint as nodes see it on which it does not run: the same operation for all of them. */
  readonly #remoteOps: EndpointOp[] = [];
  readonly #remoteUses: Uses[] = [];
  /** Whether its addresses lead to whole instances, as those of the edge do, and it names no ports. */
  readonly #isWhole: boolean;
  readonly #usesCluster: boolean;
  readonly #usesLocal: boolean;
  /** Most endpoints of a service are used like the one before: one list of ports serves them all. */
  #lastPorts: PortList | undefined;

  constructor(state: ServiceState) {
    const { key, service } = state;
    const external = state.listened || isExternallyReachable(service);
    const internalLocal = service.internalTrafficPolicy === "Local";
    this.#isWhole = service.edgeIPs.length > 0 && service.ports.length === 0;
    this.#usesCluster = !internalLocal || external || service.edgeIPs.length > 0;
    this.#usesLocal = internalLocal || (external && service.externalTrafficPolicy === "Local");
    const { endpoints, paths } = withPaths(state);
    this.#endpoints = endpoints;
    this.#paths = paths;
    this.#onlyGroup = state.groups.length === 1 ? state.groups[0]?.ref.group : undefined;
    this.#lanes = lanesOf(service, this.#endpoints);
    const ending = endingPlaces(service, this.#endpoints, this.#lanes);
    const usable = usableFamilies(service, this.#lanes);
    const value = { key, service, usable, ...(ending.length > 0 && { ending }) };
    this.service = { op: "set", set: "services", path: key, value };
  }

  viewFor(place: NodePlace): ServiceView {
    const lanes = this.#lanes.map(({ candidates }) => ({
      candidates,
      topology: topologyFor(candidates, place),
      hasLocalReady: this.#usesLocal && hasLocalReadyEndpoint(this.#endpoints, candidates, place),
    }));
    const endpoints: EndpointOp[] = [];
    for (const [at, endpoint] of this.#endpoints.entries()) {
      let uses: Uses = "";
      let isUsed = this.#isWhole && endpoint.ready;
      for (const lane of lanes) {
        const use = lane.candidates.targets[at] === 0 ? "-" : this.#useOf(endpoint, lane, place);
        uses += use;
        if (use !== "-") isUsed = true;
      }
      if (isUsed) endpoints.push(this.#endpointOp(endpoint, at, uses, place));
    }
    return { service: this.service, endpoints };
  }

  #useOf(endpoint: Endpoint, lane: LaneOnNode, place: NodePlace): string {
    const { candidates, topology, hasLocalReady } = lane;
    const cluster = this.#usesCluster && isInCluster(candidates, topology, endpoint, place);
    const local = this.#usesLocal && isInLocal(hasLocalReady, endpoint, place);
    if (cluster) return local ? "b" : "c";
    return local ? "l" : "-";
  }

  #endpointOp(endpoint: Endpoint, at: number, uses: Uses, place: NodePlace): EndpointOp {
    const local = isLocal(endpoint, place);
    const shared = this.#remoteOps[at];
    if (!local && shared !== undefined && this.#remoteUses[at] === uses) return shared;
    const service = this.service.path;
    const path = this.#paths[at] ?? "";
    const ports = this.#sharedPorts(at, uses);
    const value: NodeEndpoint = {
      path,
      service,
      group: this.#onlyGroup ?? groupKeyOf(endpoint),
      endpoint,
      local,
      ports,
    };
    const op: EndpointOp = { op: "set", set: "endpoints", path, value };
    if (!local && shared === undefined) {
      this.#remoteOps[at] = op;
      this.#remoteUses[at] = uses;
    }
    return op;
  }

  #portsOf(at: number, uses: Uses): readonly NodeEndpointPort[] {
    const ports: NodeEndpointPort[] = [];
    this.service.value.service.ports.forEach(({ name }, portIndex) => {
      let target = 0;
      let clusterFor = "";
      let localFor = "";
      this.#lanes.forEach((lane, index) => {
        const use = uses[index];
        if (lane.portIndex !== portIndex || use === "-") return;
        target = lane.candidates.targets[at] ?? target;
        if (use !== "l") clusterFor += lane.family;
        if (use !== "c") localFor += lane.family;
      });
      if (target === 0) return;
      ports.push({ name, target, clusterFor: families(clusterFor), localFor: families(localFor) });
    });
    return ports;
  }

  #sharedPorts(at: number, uses: Uses): readonly NodeEndpointPort[] {
    const last = this.#lastPorts;
    const isAlike =
      last?.uses === uses &&
      this.#lanes.every(({ candidates: { targets } }) => targets[last.at] === targets[at]);
    if (isAlike) return last.ports;
    const ports = this.#portsOf(at, uses);
    this.#lastPorts = { at, uses, ports };
    return ports;
  }
}

const plans = new WeakMap<ServiceState, ServicePlan>();

/** The view of one service on one node. */
export function viewService(state: ServiceState, place: NodePlace): ServiceView {
  return planOf(state).viewFor(place);
}

/** What every node is sent of the service itself. */
export function serviceOp(state: ServiceState): ServiceOp {
  return planOf(state).service;
}

function planOf(state: ServiceState): ServicePlan {
  const known = plans.get(state);
  if (known !== undefined) return known;
  const plan = new ServicePlan(state);
  plans.set(state, plan);
  return plan;
}

/** Whether two nodes' endpoints say the same. */
export function sameNodeEndpoint(a: NodeEndpoint, b: NodeEndpoint): boolean {
  return (
    a === b ||
    (a.local === b.local &&
      a.group === b.group &&
      samePorts(a.ports, b.ports) &&
      deepEqual(a.endpoint, b.endpoint))
  );
}

export function sameNodeService(a: NodeService, b: NodeService): boolean {
  return (
    a === b ||
    (deepEqual(a.service, b.service) &&
      a.usable.every((list, index) => list === b.usable[index]) &&
      deepEqual(a.ending, b.ending))
  );
}

function samePorts(a: readonly NodeEndpointPort[], b: readonly NodeEndpointPort[]): boolean {
  if (a === b) return true;
  return a.length === b.length && a.every((port, index) => samePort(port, b[index]));
}

function samePort(a: NodeEndpointPort, b: NodeEndpointPort | undefined): boolean {
  return (
    a.name === b?.name &&
    a.target === b.target &&
    a.clusterFor === b.clusterFor &&
    a.localFor === b.localFor
  );
}

/** The endpoints of all groups with the paths that they have under the service, in their order. */
function withPaths(state: ServiceState): {
  readonly endpoints: readonly Endpoint[];
  readonly paths: readonly string[];
} {
  const [only, second] = state.groups;
  if (only !== undefined && second === undefined && only.ref.group === state.key) {
    return { endpoints: only.state.endpoints, paths: only.state.endpointKeys };
  }
  const named = endpointsOf(state).map((endpoint) => ({
    endpoint,
    path: pathOf(state.key, endpoint),
  }));
  named.sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    endpoints: named.map(({ endpoint }) => endpoint),
    paths: named.map(({ path }) => path),
  };
}

/** An endpoint of a group that is not the service's own is named with its group, which no name can imitate. */
function pathOf(service: string, endpoint: Endpoint): string {
  if (service === groupKeyOf(endpoint)) return keyOf(endpoint);
  return `${service}/${endpoint.name}${GROUP_MARK}${endpoint.namespace}${GROUP_MARK}${endpoint.group}`;
}

function lanesOf(service: Service, endpoints: readonly Endpoint[]): readonly Lane[] {
  const lanes: Lane[] = [];
  service.ports.forEach((port, portIndex) => {
    for (const family of FAMILIES) {
      const candidates = candidatesFor(endpoints, port, family);
      if (candidates !== undefined) lanes.push({ portIndex, family, candidates });
    }
  });
  return lanes;
}

function usableFamilies(service: Service, lanes: readonly Lane[]): NodeService["usable"] {
  return service.ports.map((_, portIndex) => {
    const usable = lanes.filter((lane) => lane.portIndex === portIndex && lane.candidates.hasAny);
    return families(usable.map((lane) => lane.family).join(""));
  });
}

/** TCP is left out: its connections are left alone whatever becomes of the endpoint. */
function endingPlaces(
  service: Service,
  endpoints: readonly Endpoint[],
  lanes: readonly Lane[],
): readonly EndingPlace[] {
  const places: EndingPlace[] = [];
  for (const { portIndex, family, candidates } of lanes) {
    if (service.ports[portIndex]?.protocol === "TCP") continue;
    endpoints.forEach((endpoint, at) => {
      const target = candidates.targets[at] ?? 0;
      const address = addressIn(endpoint, family) ?? "";
      if (target === 0 || !isServingTerminating(endpoint) || familyOf(address) !== family) return;
      places.push({ portIndex, address, target });
    });
  }
  return places;
}

function families(joined: string): readonly Family[] {
  return FAMILY_LISTS[joined] ?? FAMILIES;
}
