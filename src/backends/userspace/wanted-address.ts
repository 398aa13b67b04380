import type { Service, ServicePort } from "../../core/model/service.ts";
import { answersNodePorts, type RouteNode } from "../../core/route/route-node.ts";
import type { FullState, ServiceEndpoints } from "../../core/sinks/fullstate.ts";
import { LOOPBACK, type NodeFacts } from "./node-facts.ts";

/** A kind of address on which services want to be called. */
export interface AddressKind {
  readonly type: "cluster-ip" | "external-ip" | "load-balancer-ip" | "node-port";
  readonly words: string;
  /** Where a port answers. */
  place(service: Service, port: ServicePort, nodePortIps: readonly string[]): Place;
}

interface Place {
  readonly ips: readonly string[];
  readonly number: number;
}

/** In the order in which one wins over another. */
const ADDRESS_KINDS: readonly AddressKind[] = [
  {
    type: "cluster-ip",
    words: "cluster IPs",
    place: ({ clusterIPs: ips }, { port: number }) => ({ ips, number }),
  },
  {
    type: "external-ip",
    words: "external IPs",
    place: ({ externalIPs: ips }, { port: number }) => ({ ips, number }),
  },
  {
    type: "load-balancer-ip",
    words: "load-balancer IPs",
    place: ({ loadBalancerIPs: ips }, { port: number }) => ({ ips, number }),
  },
  {
    type: "node-port",
    words: "node ports on addresses",
    place: (_, { nodePort: number }, ips) => ({ ips: number === 0 ? [] : ips, number }),
  },
];

/** One address of one port of a service. */
export interface WantedAddress {
  readonly kind: AddressKind;
  readonly item: ServiceEndpoints;
  readonly port: ServicePort;
  readonly ip: string;
  readonly number: number;
}

/** All addresses on which the services of a state want to be called; those that win over others first. */
export function* wantedAddresses(
  state: FullState,
  node: RouteNode,
  facts: NodeFacts,
): Generator<WantedAddress> {
  const nodePortIps = [...new Set([...node.addresses, ...LOOPBACK])].filter((ip) =>
    answersNodePorts(node, facts.nodePortAddresses, ip),
  );
  for (const kind of ADDRESS_KINDS) {
    for (const item of state.services.values()) {
      const { service } = item.service;
      for (const port of service.ports) {
        const { ips, number } = kind.place(service, port, nodePortIps);
        for (const ip of ips) yield { kind, item, port, ip, number };
      }
    }
  }
}
