import { familyOf, WILDCARDS } from "../model/address.ts";
import type { Protocol } from "../model/common.ts";
import { type Listener, protocolsOf } from "../model/listener.ts";
import type { EdgeAddress, Service, ServicePort } from "../model/service.ts";
import type { GlobalState, ServiceState } from "../store/state.ts";
import type { Packet } from "./packet.ts";
import { answersNodePorts, ownsAddress, type RouteNode } from "./route-node.ts";
import type { NodePortAddresses } from "./route-policy.ts";
import type { AddressType } from "./verdict.ts";

interface Found {
  readonly state: ServiceState;
  /** Undefined where the service has no such port. */
  readonly port: ServicePort | undefined;
}

/** What the destination of a packet is. */
export type Destination =
  | (Found & { readonly type: Exclude<AddressType, "listen-address" | "edge-ip"> })
  | (Found & { readonly type: "edge-ip"; readonly edge: EdgeAddress })
  | {
      readonly type: "listen-address";
      readonly listener: Listener;
      /** Undefined where the service does not exist. */
      readonly state: ServiceState | undefined;
      readonly port: ServicePort | undefined;
    };

export type FindDestination = (
  packet: Packet,
  nodePortAddresses: NodePortAddresses,
) => Destination | undefined;

/**
 * Indexes the addresses of a state, so that a packet's destination is found without a walk over all
 * services. What is most exact wins, as kernels do it: address and port of a service (cluster, then
 * external, then load-balancer IPs), edge addresses, node ports, listeners (on one address, then on
 * all), and last a cluster IP whose service lacks the port.
 */
export function indexDestinations(global: GlobalState, node: RouteNode): FindDestination {
  const finders = [
    indexAddresses(global),
    indexEdgeAddresses(global),
    indexNodePorts(global, node),
    indexListeners(global, node),
    indexClusterIPs(global),
  ];
  return (packet, nodePortAddresses) => {
    for (const find of finders) {
      const destination = find(packet, nodePortAddresses);
      if (destination !== undefined) return destination;
    }
    return undefined;
  };
}

const SERVICE_ADDRESSES = [
  { type: "cluster-ip", ips: (service: Service) => service.clusterIPs },
  { type: "external-ip", ips: (service: Service) => service.externalIPs },
  { type: "load-balancer-ip", ips: (service: Service) => service.loadBalancerIPs },
] as const;

function indexAddresses(global: GlobalState): FindDestination {
  const byTuple = new Map<string, Destination>();
  for (const { type, ips } of SERVICE_ADDRESSES) {
    for (const [state, port] of portsOf(global)) {
      for (const ip of ips(state.service)) {
        setOnce(byTuple, tupleKey(ip, port.protocol, port.port), { type, state, port });
      }
    }
  }
  return ({ dst, protocol, dstPort }) => byTuple.get(tupleKey(dst, protocol, dstPort));
}

function indexEdgeAddresses(global: GlobalState): FindDestination {
  const byAddress = new Map<string, { state: ServiceState; edge: EdgeAddress }>();
  for (const state of global.services.values()) {
    for (const edge of state.service.edgeIPs) setOnce(byAddress, edge.address, { state, edge });
  }
  return (packet) => {
    const found = byAddress.get(packet.dst);
    return found && { type: "edge-ip", ...found, port: edgePort(found.state.service, packet) };
  };
}

function indexNodePorts(global: GlobalState, node: RouteNode): FindDestination {
  const byPort = new Map<string, Destination>();
  for (const [state, port] of portsOf(global)) {
    if (port.nodePort === 0) continue;
    const key = tupleKey("", port.protocol, port.nodePort);
    setOnce(byPort, key, { type: "node-port", state, port });
  }
  return ({ dst, protocol, dstPort }, nodePortAddresses) => {
    const found = byPort.get(tupleKey("", protocol, dstPort));
    return found && answersNodePorts(node, nodePortAddresses, dst) ? found : undefined;
  };
}

/** A wildcard stands for all addresses of the node in its own family; a unix path for none. */
function indexListeners(global: GlobalState, node: RouteNode): FindDestination {
  const byTuple = new Map<string, Listener>();
  for (const listener of global.listeners.values()) {
    if (listener.node !== "" && listener.node !== node.name) continue;
    for (const protocol of protocolsOf(listener)) {
      setOnce(byTuple, tupleKey(listener.address, protocol, listener.port), listener);
    }
  }
  return ({ dst, protocol, dstPort }) => {
    const on = (address: string) => byTuple.get(tupleKey(address, protocol, dstPort));
    const wildcard = WILDCARDS[familyOf(dst)];
    const listener = on(dst) ?? (ownsAddress(node, dst) ? on(wildcard) : undefined);
    if (listener === undefined || dst === wildcard) return undefined;
    const state = global.services.get(listener.service);
    const port = state && listenerPort(state.service, listener);
    return { type: "listen-address", listener, state, port };
  };
}

/** For the ports that the service of a cluster IP does not have: nobody else may have them. */
function indexClusterIPs(global: GlobalState): FindDestination {
  const byAddress = new Map<string, ServiceState>();
  for (const state of global.services.values()) {
    for (const ip of state.service.clusterIPs) setOnce(byAddress, ip, state);
  }
  return ({ dst }) => {
    const state = byAddress.get(dst);
    return state && { type: "cluster-ip", state, port: undefined };
  };
}

function* portsOf(global: GlobalState): Generator<readonly [ServiceState, ServicePort]> {
  for (const state of global.services.values()) {
    for (const port of state.service.ports) yield [state, port];
  }
}

/** A service of the edge that names no ports has all of them: its addresses mean whole instances. */
function edgePort(service: Service, packet: Packet): ServicePort | undefined {
  if (service.ports.length > 0) return portCalled(service, packet);
  const { protocol, dstPort: port } = packet;
  return { name: "", protocol, port, nodePort: 0, targetPort: port, targetPortName: "" };
}

function portCalled(service: Service, packet: Packet): ServicePort | undefined {
  return service.ports.find(
    (port) => port.protocol === packet.protocol && port.port === packet.dstPort,
  );
}

/** The port that a listener names; it need not where there is only one. */
function listenerPort(service: Service, listener: Listener): ServicePort | undefined {
  const { ports } = service;
  if (listener.servicePort === "" && ports.length === 1) return ports[0];
  return ports.find((port) => port.name === listener.servicePort);
}

function tupleKey(ip: string, protocol: Protocol, port: number): string {
  return `${ip} ${protocol} ${port}`;
}

function setOnce<V>(map: Map<string, V>, key: string, value: V): void {
  if (!map.has(key)) map.set(key, value);
}
