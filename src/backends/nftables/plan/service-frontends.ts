import { familyOf } from "../../../core/model/address.ts";
import { type Service, type ServicePort, sourceRangesFor } from "../../../core/model/service.ts";
import { anyContains } from "../../../core/route/route-node.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import {
  type AccessList,
  type Frontend,
  type FrontendScope,
  RANKS,
  type SlotMethod,
} from "./frontend.ts";
import { outermostNetworks } from "./network-set.ts";
import type { TableFacts } from "./table-facts.ts";
import { PortLists } from "./target-lists.ts";

/** Everywhere in one family where a service is called by its own addresses and node ports. */
export function serviceFrontends(
  item: ServiceEndpoints,
  method: SlotMethod,
  facts: TableFacts,
): readonly Frontend[] {
  const { service } = item.service;
  const addresses = addressesOf(service, facts);
  const frontends: Frontend[] = [];
  for (const [index, port] of service.ports.entries()) {
    const lists = new PortLists(item, port, index, facts.family);
    const label = labelOf(service, port);
    const { protocol } = port;
    const { affinitySeconds } = service;
    const push = (address: string, number: number, type: ServiceAddressType): void => {
      const scope =
        type === "cluster-ip" ? internalScope(service, lists) : externalScope(service, lists);
      const access =
        type === "load-balancer-ip" ? sourceRanges(service, address, facts) : undefined;
      const rank = RANKS[type];
      frontends.push({
        address,
        protocol,
        port: number,
        rank,
        label,
        scope,
        method,
        affinitySeconds,
        access,
      });
    };
    for (const [type, ip] of addresses) push(ip, port.port, type);
    if (port.nodePort === 0) continue;
    for (const ip of facts.nodePortAddresses) push(ip, port.nodePort, "node-port");
  }
  return frontends;
}

type ServiceAddressType = "cluster-ip" | "external-ip" | "load-balancer-ip" | "node-port";

function addressesOf(
  service: Service,
  { family }: TableFacts,
): readonly (readonly [ServiceAddressType, string])[] {
  const addresses: [ServiceAddressType, string][] = [];
  const push = (type: ServiceAddressType, ips: readonly string[]): void => {
    for (const ip of ips) if (familyOf(ip) === family) addresses.push([type, ip]);
  };
  push("cluster-ip", service.clusterIPs);
  push("external-ip", service.externalIPs);
  push("load-balancer-ip", service.loadBalancerIPs);
  return addresses;
}

function internalScope(service: Service, lists: PortLists): FrontendScope {
  const isLocal = service.internalTrafficPolicy === "Local";
  return { kind: "internal", list: isLocal ? lists.local : lists.cluster };
}

export function externalScope(service: Service, lists: PortLists): FrontendScope {
  return service.externalTrafficPolicy === "Local"
    ? { kind: "external-local", list: lists.cluster, local: lists.local }
    : { kind: "external", list: lists.cluster };
}

function sourceRanges(
  service: Service,
  address: string,
  { nodeAddresses }: TableFacts,
): AccessList | undefined {
  const ranges = sourceRangesFor(service, address);
  if (ranges.length === 0) return undefined;
  // The node's own packets to the address can carry it as their source.
  const holdsNode = nodeAddresses.some((own) => anyContains(ranges, own));
  const networks = outermostNetworks(holdsNode ? [...ranges, address] : ranges);
  return { kind: "networks", networks };
}

/** `default/web:http`. */
function labelOf({ namespace, name }: Service, port: ServicePort): string {
  const key = `${namespace}/${name}`;
  return port.name === "" ? key : `${key}:${port.name}`;
}
