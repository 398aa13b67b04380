import { cidrContains, type Family, familyOf, parseCidr } from "../../core/model/address.ts";
import { groupsOf, type Service, type ServicePort } from "../../core/model/service.ts";
import type { FullState, ServiceEndpoints } from "../../core/sinks/fullstate.ts";
import type { NodeEndpoint } from "../../core/view/ops.ts";
import { reservedAddressesOf } from "../../edge/addresses/subnet.ts";
import type { EdgeInstance, PortLead } from "../../edge/table/live-instance.ts";
import type { EdgeService } from "../../edge/table/service-table.ts";
import type { PeerSpec } from "../../edge/tunnel/peer.ts";
import { leftOut } from "../left-out.ts";
import type { EdgeSettings } from "./settings.ts";

export interface ServiceFacts {
  readonly nodeName: string;
  readonly peers: readonly PeerSpec[];
  readonly settings: Pick<EdgeSettings, "serviceRanges">;
}

export interface PlannedServices {
  readonly services: readonly EdgeService[];
  /** By key of the service. */
  readonly limits: ReadonlyMap<string, readonly string[]>;
}

const METHODS: ReadonlySet<string> = new Set(["round-robin", "weighted-round-robin"]);

/** The services with edge addresses, as the tunnel is told of them. */
export function planServices(state: FullState, facts: ServiceFacts): PlannedServices {
  const services: EdgeService[] = [];
  const limits = new Map<string, readonly string[]>();
  const subnets = new Map(facts.peers.map((peer) => [peer.node, peer.subnets]));
  for (const [key, one] of state.services) {
    const { service } = one.service;
    if (service.edgeIPs.length === 0) continue;
    const reached = one.endpoints.filter((endpoint) => isReached(endpoint, facts, subnets));
    const instances = instancesOf(service, reached);
    const addresses = service.edgeIPs.filter(({ address }) => isServed(address, facts));
    services.push({ key, names: [], addresses, instances });
    const reasons = limitsOf(state, one, reached.length, facts);
    if (reasons.length > 0) limits.set(key, reasons);
  }
  return { services, limits };
}

/** What other nodes send comes from their own networks, or is dropped. */
function isReached(
  { endpoint: { node, addresses } }: NodeEndpoint,
  { nodeName }: ServiceFacts,
  subnets: ReadonlyMap<string, readonly string[]>,
): boolean {
  if (addresses.length === 0) return false;
  if (node === nodeName) return true;
  const networks = (subnets.get(node) ?? []).flatMap((text) => parseCidr(text) ?? []);
  return addresses.every((ip) => networks.some((network) => cidrContains(network, ip)));
}

function instancesOf(
  service: Service,
  endpoints: readonly NodeEndpoint[],
): readonly EdgeInstance[] {
  const shareOf = groupShares(service, endpoints);
  const ports = new Map(service.ports.map((port) => [port.name, port]));
  return endpoints.map((one) => {
    const { instance: number, node, addresses, weight } = one.endpoint;
    const families = familiesOf(service, one);
    return {
      number,
      node,
      addresses: addresses.filter((ip) => families.has(familyOf(ip))),
      weight: weight * shareOf(one),
      ...(ports.size > 0 && { leads: leadsOf(one, ports) }),
    };
  });
}

function leadsOf(
  endpoint: NodeEndpoint,
  ports: ReadonlyMap<string, ServicePort>,
): readonly PortLead[] {
  return endpoint.ports.flatMap(({ name, target }) => {
    const port = ports.get(name);
    if (port === undefined || port.protocol === "SCTP") return [];
    return [{ protocol: port.protocol === "TCP" ? "tcp" : "udp", port: port.port, target }];
  });
}

/** A service that names no ports has whole instances behind it. */
function familiesOf(service: Service, { ports, endpoint }: NodeEndpoint): ReadonlySet<Family> {
  const all = endpoint.addresses.map(familyOf);
  return new Set(service.ports.length === 0 ? all : ports.flatMap(({ clusterFor }) => clusterFor));
}

/** By how much the weight of an endpoint is to be multiplied, so that each group has its share. */
function groupShares(
  { groups }: Service,
  endpoints: readonly NodeEndpoint[],
): (endpoint: NodeEndpoint) => number {
  if (groups.length < 2) return () => (groups[0]?.weight === 0 ? 0 : 1);
  const sums = new Map<string, number>();
  for (const { group, endpoint } of endpoints) {
    sums.set(group, (sums.get(group) ?? 0) + endpoint.weight);
  }
  const weights = new Map(groups.map(({ group, weight }) => [group, weight]));
  return ({ group }) => (weights.get(group) ?? 0) / (sums.get(group) || 1);
}

function isServed(address: string, { settings: { serviceRanges } }: ServiceFacts): boolean {
  return (
    serviceRanges.some((range) => cidrContains(range, address)) &&
    !reservedAddressesOf(serviceRanges).includes(address)
  );
}

function limitsOf(
  state: FullState,
  { service: { service }, endpoints }: ServiceEndpoints,
  reached: number,
  facts: ServiceFacts,
): readonly string[] {
  const { edgeIPs, affinitySeconds, ports } = service;
  const reasons = [...leftOut(endpoints)];
  const named = endpoints.filter(({ endpoint }) => endpoint.addresses.length > 0);
  if (reached < named.length) {
    reasons.push("endpoints that are not in the subnets of a node with a tunnel are left out");
  }
  for (const { address } of edgeIPs) {
    if (isServed(address, facts)) continue;
    reasons.push(`${address} is no address of --edge-range that a service may have`);
  }
  if (affinitySeconds > 0) reasons.push("a client does not stay with its endpoint");
  if (ports.some(({ protocol }) => protocol === "SCTP")) reasons.push("SCTP is not carried");
  for (const { group } of groupsOf(service)) {
    const method = state.further.groups.get(group)?.method;
    if (method === undefined || METHODS.has(method)) continue;
    reasons.push(`endpoints are taken in turn, by weight, and not by ${method}`);
  }
  return reasons;
}
