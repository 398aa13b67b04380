import { type Family, familyOf, formatHostPort } from "../../../core/model/address.ts";
import { EMPTY, type Protocol } from "../../../core/model/common.ts";
import { type Listener, leadsTo, protocolOf } from "../../../core/model/listener.ts";
import type { Service, ServicePort, TrafficPolicy } from "../../../core/model/service.ts";
import type { AddressType } from "../../../core/route/verdict.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import type { EndingPlace, NodeEndpointPort } from "../../../core/view/ops.ts";

/** The protocols whose flows outlive what they were sent to: nobody says goodbye. */
export type ConnectionlessProtocol = Exclude<Protocol, "TCP">;

/** Where clients call a port of a service, and who may be answering there. */
export interface FlowTarget {
  readonly protocol: ConnectionlessProtocol;
  /**
   * Empty for a node port: every address on which node ports answer; `0.0.0.0` and `::` likewise, for a
   * listener of one family.
   */
  readonly ip: string;
  readonly port: number;
  /** `10.1.0.5:53`, `[fd00::5]:53`. */
  readonly endpoints: ReadonlySet<string>;
}

/** The types of addresses whose flows are tracked; those that a backend does not program are not its. */
export type TrackedTypes = ReadonlySet<AddressType>;

/**
 * All places where clients of a service call by UDP or SCTP, with the endpoints that serve them.
 * @param listeners those of this node that lead to the service
 */
export function flowTargetsOf(
  { service: { service, ending = EMPTY }, endpoints }: ServiceEndpoints,
  types: TrackedTypes,
  listeners: readonly Listener[] = EMPTY,
): readonly FlowTarget[] {
  const targets: FlowTarget[] = [];
  for (const [portIndex, port] of service.ports.entries()) {
    const { protocol } = port;
    if (protocol === "TCP") continue;
    const stillServing = ending.filter((place) => place.portIndex === portIndex);
    const serving = (family: Family, scope: Scope) =>
      servingOf(endpoints, stillServing, port, family, scope);
    for (const { ip, scope } of addressesOf(service, types)) {
      targets.push({ protocol, ip, port: port.port, endpoints: serving(familyOf(ip), scope) });
    }
    const scope = externalScope(service);
    const leading = listeners.filter((one) => leadsTo(one, port.name, service.ports.length));
    for (const listener of leading) {
      if (protocolOf(listener) !== protocol) continue;
      const { address: ip, port: called } = listener;
      targets.push({ protocol, ip, port: called, endpoints: serving(familyOf(ip), scope) });
    }
    if (port.nodePort === 0 || !types.has("node-port")) continue;
    const both = new Set([...serving("v4", scope), ...serving("v6", scope)]);
    targets.push({ protocol, ip: "", port: port.nodePort, endpoints: both });
  }
  return targets;
}

/** Which of a service's endpoints may answer. */
type Scope = "cluster" | "local" | "either";

interface CalledAddress {
  readonly ip: string;
  readonly scope: Scope;
}

function addressesOf(service: Service, types: TrackedTypes): readonly CalledAddress[] {
  const outer = externalScope(service);
  const inner = service.internalTrafficPolicy === "Local" ? "local" : "cluster";
  const called = (type: AddressType, ips: readonly string[], scope: Scope): CalledAddress[] =>
    types.has(type) ? ips.map((ip) => ({ ip, scope })) : [];
  return [
    ...called("cluster-ip", service.clusterIPs, inner),
    ...called("external-ip", service.externalIPs, outer),
    ...called("load-balancer-ip", service.loadBalancerIPs, outer),
    ...called(
      "edge-ip",
      service.edgeIPs.map(({ address }) => address),
      "cluster",
    ),
  ];
}

/** With policy Local this node's own calls still go to the whole cluster: a flow may be either's. */
function externalScope(service: Service): Scope {
  const policies: Readonly<Record<TrafficPolicy, Scope>> = { Cluster: "cluster", Local: "either" };
  return policies[service.externalTrafficPolicy];
}

/** @param ending keep the flows that they have, as with kube-proxy */
function servingOf(
  endpoints: ServiceEndpoints["endpoints"],
  ending: readonly EndingPlace[],
  { name }: ServicePort,
  family: Family,
  scope: Scope,
): ReadonlySet<string> {
  const serving = new Set<string>();
  for (const { address, target } of ending) {
    if (familyOf(address) === family) serving.add(formatHostPort(address, target));
  }
  for (const { endpoint, ports } of endpoints) {
    const port = ports.find((candidate) => candidate.name === name);
    if (port === undefined || !isInScope(port, family, scope)) continue;
    for (const address of endpoint.addresses) {
      if (familyOf(address) === family) serving.add(formatHostPort(address, port.target));
    }
  }
  return serving;
}

function isInScope(port: NodeEndpointPort, family: Family, scope: Scope): boolean {
  const inCluster = scope !== "local" && port.clusterFor.includes(family);
  return inCluster || (scope !== "cluster" && port.localFor.includes(family));
}
