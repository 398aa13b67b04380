import { familyOf } from "../model/address.ts";
import type { Packet } from "./packet.ts";
import { anyContains, type RouteNode } from "./route-node.ts";
import type { RoutePolicy } from "./route-policy.ts";

/** What the data plane's detector says of a packet's source; `unknown` where there is none. */
export type SourceLocality = "local" | "not-local" | "unknown";

export function sourceLocality(
  packet: Packet,
  policy: RoutePolicy,
  node: RouteNode,
): SourceLocality {
  const { localDetection } = policy;
  switch (localDetection.mode) {
    case "none":
      return "unknown";
    case "interface":
      return packet.from === "workload" ? "local" : "not-local";
    case "cluster-cidr":
      return byNetwork(localDetection.cidrs, packet.src);
    case "node-cidr":
      return byNetwork(node.subnets, packet.src);
  }
}

function byNetwork(networks: readonly string[], ip: string): SourceLocality {
  const ofFamily = networks.filter((network) => familyOf(network) === familyOf(ip));
  if (ofFamily.length === 0) return "unknown";
  return anyContains(ofFamily, ip) ? "local" : "not-local";
}
