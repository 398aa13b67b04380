import { familyOf } from "../../core/model/address.ts";
import { type Listener, leadsTo } from "../../core/model/listener.ts";
import { keyOf } from "../../core/model/object.ts";
import type { SecurityGroup } from "../../core/model/security-group.ts";
import type { Service } from "../../core/model/service.ts";
import type { IngressPort } from "../../edge/environment/edge-network.ts";
import { listenerAccess } from "../access-list.ts";
import { isForTheKernel } from "../is-for-the-kernel.ts";

export interface IngressFacts {
  readonly nodeName: string;
  readonly listeners: Iterable<Listener>;
  readonly securityGroups: ReadonlyMap<string, SecurityGroup>;
  serviceOf(key: string): Service | undefined;
}

export interface PlannedIngress {
  readonly ports: readonly IngressPort[];
  /** By key of the listener. */
  readonly limits: ReadonlyMap<string, readonly string[]>;
}

const POLICIES = ["round-robin", "closest", "instance"] as const;

/** Where those outside are let in to services of the edge: the listeners of this node. */
export function planIngress(facts: IngressFacts): PlannedIngress {
  const ports: IngressPort[] = [];
  const limits = new Map<string, readonly string[]>();
  for (const listener of facts.listeners) {
    if (listener.node !== "" && listener.node !== facts.nodeName) continue;
    const service = facts.serviceOf(listener.service);
    if (service === undefined || service.edgeIPs.length === 0) continue;
    const planned = portOf(listener, service, facts);
    if (typeof planned === "string") limits.set(`Listener ${keyOf(listener)}`, [planned]);
    else ports.push(planned);
  }
  return { ports, limits };
}

/** Or why not. */
function portOf(
  listener: Listener,
  service: Service,
  { securityGroups }: IngressFacts,
): IngressPort | string {
  if (!isForTheKernel(listener)) return "only plain TCP and UDP lead into the overlay";
  const protocol = listener.mode === "udp" ? "udp" : "tcp";
  const family = familyOf(listener.address);
  const ofFamily = service.edgeIPs.filter(({ address }) => familyOf(address) === family);
  const to = POLICIES.map((policy) => ofFamily.find((one) => one.policy === policy)).find(
    (one) => one !== undefined,
  );
  if (to === undefined) return `its service has no edge address of IP${family}`;
  const { ports } = service;
  const port = ports.find(({ name }) => leadsTo(listener, name, ports.length));
  if (port === undefined && ports.length > 0) {
    return `its service has no port named "${listener.servicePort}"`;
  }
  if (port !== undefined && port.protocol.toLowerCase() !== protocol) {
    return `port ${port.port} of its service is ${port.protocol}`;
  }
  const guard = listenerAccess(listener, securityGroups);
  return {
    protocol,
    address: listener.address,
    port: listener.port,
    to: to.address,
    toPort: port?.port ?? listener.port,
    ...(guard !== undefined && { guard }),
  };
}
