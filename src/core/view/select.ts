import type { Family } from "../model/address.ts";
import { type Endpoint, resolveTargetPort } from "../model/endpoint.ts";
import type { ServicePort } from "../model/service.ts";
import { isSocketPath } from "../model/socket-path.ts";
import type { ServiceState } from "../store/state.ts";
import { addressIn, type Candidates, candidatesFor, isServingTerminating } from "./candidates.ts";

/** Where a node stands, for what depends on it. */
export interface NodePlace {
  readonly name: string;
  readonly zone: string;
}

export type Topology = "none" | "same-node" | "same-zone";

/** Why an endpoint of a service is not used by a node. */
export type ExclusionReason =
  | "other-family"
  | "port-not-served"
  | "duplicate"
  | "not-ready"
  | "terminating"
  | "socket-elsewhere"
  | "hinted-elsewhere";

/** Which endpoints of one service port and family a node uses. */
export interface Selection {
  readonly topology: Topology;
  /** The endpoints of the whole cluster that this node may use, with their target ports. */
  readonly cluster: ReadonlyMap<Endpoint, number>;
  /** Those that a Local policy leaves. */
  readonly local: ReadonlyMap<Endpoint, number>;
  /** Whether any endpoint can be used anywhere. */
  readonly hasAny: boolean;
  /** Why each of the other endpoints is in neither list. */
  readonly excluded: ReadonlyMap<Endpoint, ExclusionReason>;
}

const NO_CANDIDATES: Candidates = {
  targets: [],
  hasReady: false,
  hasAny: false,
  hintedNodes: undefined,
  hintedZones: undefined,
};

/** kube-proxy's choice of endpoints for one port and family of a service on one node. */
export function selectEndpoints(
  state: ServiceState,
  port: ServicePort,
  family: Family,
  place: NodePlace,
): Selection {
  const endpoints = endpointsOf(state);
  const candidates = candidatesFor(endpoints, port, family) ?? NO_CANDIDATES;
  const topology = topologyFor(candidates, place);
  const hasLocalReady = hasLocalReadyEndpoint(endpoints, candidates, place);
  const cluster = new Map<Endpoint, number>();
  const local = new Map<Endpoint, number>();
  const excluded = new Map<Endpoint, ExclusionReason>();
  endpoints.forEach((endpoint, index) => {
    const target = candidates.targets[index] ?? 0;
    const inCluster = target > 0 && isInCluster(candidates, topology, endpoint, place);
    const inLocal = target > 0 && isInLocal(hasLocalReady, endpoint, place);
    if (inCluster) cluster.set(endpoint, target);
    if (inLocal) local.set(endpoint, target);
    if (inCluster || inLocal) return;
    const why = target === 0 ? whyUnfit(endpoint, family, port) : whyNotUsed(endpoint, place);
    excluded.set(endpoint, why);
  });
  return { topology, cluster, local, hasAny: candidates.hasAny, excluded };
}

/** The endpoints of all groups of a service. */
export function endpointsOf(state: ServiceState): readonly Endpoint[] {
  const [only, second] = state.groups;
  if (only !== undefined && second === undefined) return only.state.endpoints;
  return state.groups.flatMap((group) => group.state.endpoints);
}

/** Hints hold only where every ready endpoint has one and one of them means this place. */
export function topologyFor(candidates: Candidates, place: NodePlace): Topology {
  if (candidates.hintedNodes?.has(place.name)) return "same-node";
  if (place.zone !== "" && candidates.hintedZones?.has(place.zone)) return "same-zone";
  return "none";
}

/** Ready endpoints that the topology allows; where nothing is ready anywhere, the terminating ones. */
export function isInCluster(
  candidates: Candidates,
  topology: Topology,
  endpoint: Endpoint,
  place: NodePlace,
): boolean {
  if (isSocketElsewhere(endpoint, place)) return false;
  if (!candidates.hasReady) return isServingTerminating(endpoint);
  if (!endpoint.ready) return false;
  switch (topology) {
    case "none":
      return true;
    case "same-node":
      return endpoint.hints.nodes.includes(place.name);
    case "same-zone":
      return endpoint.hints.zones.includes(place.zone);
  }
}

export function isLocal(endpoint: Endpoint, place: NodePlace): boolean {
  return endpoint.node !== "" && endpoint.node === place.name;
}

/** A path means something on its own machine only. */
function isSocketElsewhere({ hostName, node }: Endpoint, place: NodePlace): boolean {
  return isSocketPath(hostName) && node !== "" && node !== place.name;
}

/** Ready endpoints of this node; where it has none, its terminating ones. */
export function isInLocal(hasLocalReady: boolean, endpoint: Endpoint, place: NodePlace): boolean {
  if (!isLocal(endpoint, place)) return false;
  return hasLocalReady ? endpoint.ready : isServingTerminating(endpoint);
}

export function hasLocalReadyEndpoint(
  endpoints: readonly Endpoint[],
  candidates: Candidates,
  place: NodePlace,
): boolean {
  return endpoints.some(
    (endpoint, index) =>
      endpoint.ready && isLocal(endpoint, place) && candidates.targets[index] !== 0,
  );
}

function whyUnfit(endpoint: Endpoint, family: Family, port: ServicePort): ExclusionReason {
  if (addressIn(endpoint, family) === undefined) return "other-family";
  return resolveTargetPort(endpoint, port) === undefined ? "port-not-served" : "duplicate";
}

function whyNotUsed(endpoint: Endpoint, place: NodePlace): ExclusionReason {
  if (isSocketElsewhere(endpoint, place)) return "socket-elsewhere";
  if (endpoint.ready) return "hinted-elsewhere";
  return isServingTerminating(endpoint) ? "terminating" : "not-ready";
}
