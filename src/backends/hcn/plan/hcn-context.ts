import { FAMILIES, type Family, familyOf, parseCidr } from "../../../core/model/address.ts";
import { anyContains } from "../../../core/route/route-node.ts";
import type { HnsFeatures } from "../../../platform/windows/hns-features.ts";
import { type Network, subnetsOf } from "../../../platform/windows/network.ts";

/** All that the objects of a service depend on beside the service. */
export interface HcnContext {
  readonly network: Network;
  readonly features: HnsFeatures;
  /** In which services are served. */
  readonly families: readonly Family[];
  /** The node's addresses, the primary one first. */
  readonly nodeIps: readonly string[];
  /** Of the node's primary address; empty on networks that do not need it. */
  readonly hostMac: string;
  readonly sourceVip: string;
  readonly isDsrEnabled: boolean;
  /** Ids of endpoints that others made on this node's network, by address. */
  readonly localEndpoints: ReadonlyMap<string, string>;
}

export function isOverlay({ type }: Pick<Network, "type">): boolean {
  return type.toLowerCase() === "overlay";
}

/** Both only where network and HNS can; overlay networks know IPv4 alone. */
export function familiesOf(network: Network, features: HnsFeatures): readonly Family[] {
  const found = new Set(subnetsOf(network).flatMap((prefix) => parseCidr(prefix)?.family ?? []));
  const [first = "v4"] = found;
  if (isOverlay(network)) return ["v4"];
  return features.dualStack && found.size > 1 ? FAMILIES : [first];
}

/** The node behind which an address is, on an overlay network; undefined where no route tells. */
export function providerOf({ remoteSubnets }: Network, ip: string): string | undefined {
  return remoteSubnets.find(({ prefix }) => anyContains([prefix], ip))?.providerAddress;
}

/** Whether it is the address of another node. */
export function isNodeAddress({ remoteSubnets }: Network, ip: string): boolean {
  return remoteSubnets.some(({ providerAddress }) => providerAddress === ip);
}

export function nodeIpOf({ nodeIps }: HcnContext, family: Family): string {
  return nodeIps.find((ip) => familyOf(ip) === family) ?? "";
}
