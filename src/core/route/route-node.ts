import { cidrContains, familyOf, isLoopback, parseCidr } from "../model/address.ts";
import { EMPTY } from "../model/common.ts";
import type { GlobalState } from "../store/state.ts";
import type { NodePortAddresses } from "./route-policy.ts";

/** The node that a packet is on, as far as routing asks. */
export interface RouteNode {
  readonly name: string;
  readonly zone: string;
  /** The first of each family is the primary one. */
  readonly addresses: readonly string[];
  /** The networks of its workloads. */
  readonly subnets: readonly string[];
}

/** A node that the state does not know has a name and loopback, and nothing else. */
export function routeNodeOf(global: GlobalState, name: string): RouteNode {
  const node = global.nodes.get(name);
  return {
    name,
    zone: node?.zone ?? "",
    addresses: node?.addresses ?? EMPTY,
    subnets: node?.subnets ?? EMPTY,
  };
}

/** Whether the address is the node's own; loopback always is. */
export function ownsAddress(node: RouteNode, ip: string): boolean {
  return isLoopback(ip) || node.addresses.includes(ip);
}

/** Whether one of the networks holds the address. */
export function anyContains(networks: readonly string[], ip: string): boolean {
  return networks.some((text) => {
    const cidr = parseCidr(text);
    return cidr !== undefined && cidrContains(cidr, ip);
  });
}

/** Whether node ports answer on this address. */
export function answersNodePorts(node: RouteNode, which: NodePortAddresses, ip: string): boolean {
  switch (which) {
    case "primary":
      return node.addresses.find((own) => familyOf(own) === familyOf(ip)) === ip;
    case "all":
      return node.addresses.includes(ip);
    case "localhost":
      return isLoopback(ip);
    default:
      return isLoopback(ip)
        ? anyContains(which.filter(isLoopbackNetwork), ip)
        : node.addresses.includes(ip) && anyContains(which, ip);
  }
}

function isLoopbackNetwork(network: string): boolean {
  return isLoopback(network.split("/")[0] ?? "");
}
