import { familyOf } from "../../../core/model/address.ts";
import { type Service, type ServicePort, sourceRangesFor } from "../../../core/model/service.ts";
import { anyContains } from "../../../core/route/route-node.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import {
  type AccessList,
  type Frontend,
  type FrontendScope,
  frontendKey,
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
  const { affinitySeconds } = service;
  const access = new Map(
    addresses.flatMap(([type, ip]) =>
      type === "load-balancer-ip" ? [[ip, sourceRanges(service, ip, facts)] as const] : [],
    ),
  );
  for (const [index, port] of service.ports.entries()) {
    const { protocol } = port;
    const label = labelOf(service, port);
    const scopes = new PortScopes(service, new PortLists(item, port, index, facts.family));
    const push = (address: string, number: number, type: ServiceAddressType): void => {
      frontends.push({
        key: frontendKey(address, protocol, number),
        address,
        protocol,
        port: number,
        rank: RANKS[type],
        label,
        scope: type === "cluster-ip" ? scopes.internal : scopes.external,
        method,
        affinitySeconds,
        access: type === "load-balancer-ip" ? access.get(address) : undefined,
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

/** Who may choose from which list of one port; the addresses of a port share it. */
export class PortScopes {
  readonly #service: Service;
  readonly #lists: PortLists;
  #internal: FrontendScope | undefined;
  #external: FrontendScope | undefined;

  constructor(service: Service, lists: PortLists) {
    this.#service = service;
    this.#lists = lists;
  }

  get internal(): FrontendScope {
    const isLocal = this.#service.internalTrafficPolicy === "Local";
    this.#internal ??= {
      kind: "internal",
      list: isLocal ? this.#lists.local : this.#lists.cluster,
    };
    return this.#internal;
  }

  get external(): FrontendScope {
    const { cluster: list } = this.#lists;
    this.#external ??=
      this.#service.externalTrafficPolicy === "Local"
        ? { kind: "external-local", list, local: this.#lists.local }
        : { kind: "external", list };
    return this.#external;
  }
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
