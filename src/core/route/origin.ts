import type { GlobalState } from "../store/state.ts";
import type { PacketOrigin } from "./packet.ts";
import { anyContains, ownsAddress, type RouteNode } from "./route-node.ts";

/**
 * Tells where a packet comes from by its source address: the node's own addresses, then those of
 * endpoints on the node and of its subnets, then everything else.
 */
export function createOriginOf(
  global: GlobalState,
  node: RouteNode,
): (src: string) => PacketOrigin {
  let workloads: ReadonlySet<string> | undefined;
  return (src) => {
    if (ownsAddress(node, src)) return "node";
    workloads ??= workloadAddresses(global, node);
    return workloads.has(src) || anyContains(node.subnets, src) ? "workload" : "outside";
  };
}

function workloadAddresses(global: GlobalState, node: RouteNode): ReadonlySet<string> {
  const addresses = new Set<string>();
  for (const group of global.groups.values()) {
    for (const endpoint of group.endpoints) {
      if (endpoint.node === "" || endpoint.node !== node.name) continue;
      for (const address of endpoint.addresses) addresses.add(address);
    }
  }
  return addresses;
}
