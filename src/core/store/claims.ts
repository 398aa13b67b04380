import { formatHostPort } from "../model/address.ts";
import { type Listener, protocolOf } from "../model/listener.ts";
import type { Kind, ModelObject } from "../model/object.ts";
import type { Service } from "../model/service.ts";

/** What only one object may hold, in the words that people are told: `cluster IP 10.0.0.1`. */
export type Claim = string;

/** An object in the store, by whoever wrote it. */
export interface Holder {
  readonly owner: string;
  readonly kind: Kind;
  readonly key: string;
}

/** The addresses that no other object may have beside this one. */
export function claimsOf(object: ModelObject): readonly Claim[] {
  switch (object.kind) {
    case "Service":
      return claimsOfService(object);
    case "Listener":
      return [claimOfListener(object)];
    default:
      return [];
  }
}

function claimsOfService(service: Service): readonly Claim[] {
  const claims: Claim[] = service.clusterIPs.map((ip) => `cluster IP ${ip}`);
  for (const edge of service.edgeIPs) claims.push(`edge IP ${edge.address}`);
  const shared = new Set([...service.externalIPs, ...service.loadBalancerIPs]);
  for (const { port, protocol, nodePort } of service.ports) {
    for (const ip of shared) claims.push(`address ${formatHostPort(ip, port)}/${protocol}`);
    if (nodePort !== 0) claims.push(`node port ${nodePort}/${protocol}`);
  }
  if (service.healthCheckNodePort !== 0) {
    claims.push(`node port ${service.healthCheckNodePort}/TCP`);
  }
  return claims;
}

function claimOfListener(listener: Listener): Claim {
  const where = listener.node === "" ? "" : ` on node ${listener.node}`;
  if (listener.port === 0) return `listen address unix:${listener.address}${where}`;
  const address = formatHostPort(listener.address, listener.port);
  return `listen address ${address}/${protocolOf(listener)}${where}`;
}
