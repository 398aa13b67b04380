import type { Endpoint } from "../../platform/windows/endpoint.ts";
import type { LoadBalancer } from "../../platform/windows/load-balancer.ts";
import { ObjectStore } from "./object-store.ts";

/** What should be in HNS, and what is. */
export interface HcnStores {
  /** Remote endpoints only: local ones are made by others. */
  readonly endpointStore: ObjectStore<Endpoint>;
  readonly loadBalancerStore: ObjectStore<LoadBalancer>;
  /** Whether a load balancer in HNS sends to the endpoint. */
  isReferenced(endpointId: string): boolean;
  /** The load balancers in HNS that send to it. */
  referencesTo(endpointId: string): readonly string[];
}

export function createStores(): HcnStores {
  const references = new Map<string, Set<string>>();
  const forget = ({ id, endpoints }: LoadBalancer): void => {
    for (const endpoint of endpoints) {
      const balancers = references.get(endpoint);
      balancers?.delete(id);
      if (balancers?.size === 0) references.delete(endpoint);
    }
  };
  const note = ({ id, endpoints }: LoadBalancer): void => {
    for (const endpoint of endpoints) {
      const balancers = references.get(endpoint);
      if (balancers === undefined) references.set(endpoint, new Set([id]));
      else balancers.add(id);
    }
  };
  return {
    endpointStore: new ObjectStore({ isSame: isSameEndpoint }),
    loadBalancerStore: new ObjectStore({
      isSame: isSameLoadBalancer,
      onKnown: (before, after) => {
        if (before !== undefined) forget(before);
        if (after !== undefined) note(after);
      },
    }),
    isReferenced: (endpoint) => references.has(endpoint),
    referencesTo: (endpoint) => [...(references.get(endpoint) ?? [])],
  };
}

/** HNS fills in what was not said: the length of the prefix, routes, DNS, policies. */
function isSameEndpoint(wanted: Endpoint, known: Endpoint): boolean {
  return (
    wanted.networkId === known.networkId &&
    wanted.isRemote === known.isRemote &&
    wanted.providerAddress === known.providerAddress &&
    wanted.macAddress.toUpperCase() === known.macAddress.toUpperCase() &&
    isSameList(
      wanted.addresses.map(({ address }) => address),
      known.addresses.map(({ address }) => address),
    )
  );
}

function isSameLoadBalancer(wanted: LoadBalancer, known: LoadBalancer): boolean {
  return (
    wanted.isDsr === known.isDsr &&
    wanted.isIpv6 === known.isIpv6 &&
    wanted.sourceVip === known.sourceVip &&
    isSameList(wanted.endpoints, known.endpoints) &&
    isSameList(wanted.frontendVips, known.frontendVips) &&
    isSameList(wanted.portMappings.map(mappingKey), known.portMappings.map(mappingKey))
  );
}

function mappingKey(mapping: LoadBalancer["portMappings"][number]): string {
  const { protocol, internalPort, externalPort, distribution, flags } = mapping;
  return `${protocol} ${internalPort} ${externalPort} ${distribution} ${flags.join()}`;
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}
