import { formatHostPort } from "../model/address.ts";
import { type Listener, protocolsOf } from "../model/listener.ts";
import type { Kind, ModelObject } from "../model/object.ts";
import type { Service } from "../model/service.ts";

/** What an object holds, so that others can not. */
export interface Claim {
  /** In the words that people are told: `cluster IP 10.0.0.1`. */
  readonly what: string;
  /** What it is compared by. */
  readonly id: string;
  /** Others may hold it too, as long as all of them share: it only keeps out who wants it alone. */
  readonly isShared: boolean;
}

/** An object in the store, by whoever wrote it. */
export interface Holder {
  readonly owner: string;
  readonly kind: Kind;
  readonly key: string;
}

/** The addresses that an object holds. */
export function claimsOf(object: ModelObject): readonly Claim[] {
  switch (object.kind) {
    case "Service":
      return claimsOfService(object);
    case "Listener":
      return claimsOfListener(object);
    default:
      return [];
  }
}

/** Cluster and edge IPs are a service's alone; external ones may be shared on different ports. */
function claimsOfService(service: Service): readonly Claim[] {
  const claims = service.clusterIPs.map((ip) => alone(`cluster IP ${ip}`, ip));
  for (const { address } of service.edgeIPs) claims.push(alone(`edge IP ${address}`, address));
  const outer = new Set([...service.externalIPs, ...service.loadBalancerIPs]);
  for (const ip of outer) {
    const isOwn = service.clusterIPs.includes(ip);
    if (!isOwn) claims.push({ what: `address ${ip}`, id: ip, isShared: true });
  }
  for (const { port, protocol, nodePort } of service.ports) {
    for (const ip of outer) claims.push(alone(`address ${formatHostPort(ip, port)}/${protocol}`));
    if (nodePort !== 0) claims.push(alone(`node port ${nodePort}/${protocol}`));
  }
  if (service.healthCheckNodePort !== 0) {
    claims.push(alone(`node port ${service.healthCheckNodePort}/TCP`));
  }
  return claims;
}

/** One for a single node shares the address with those of other nodes, not with one for all nodes. */
function claimsOfListener(listener: Listener): readonly Claim[] {
  const { address, port, node } = listener;
  const where = port === 0 ? `unix:${address}` : formatHostPort(address, port);
  return protocolsOf(listener).flatMap((protocol) => {
    const what = `listen address ${where}/${protocol}`;
    if (node === "") return [alone(what)];
    return [{ what, id: what, isShared: true }, alone(`${what} on node ${node}`)];
  });
}

function alone(what: string, id: string = what): Claim {
  return { what, id, isShared: false };
}
