import type { SecurityGroup } from "../../core/model/security-group.ts";
import { sourceRangesFor } from "../../core/model/service.ts";
import { anyContains, type RouteNode } from "../../core/route/route-node.ts";
import type { WantedAddress } from "./wanted-address.ts";

/** The source ranges of a load-balancer address as a list of who may call; undefined: everyone. */
export function sourceAccess(
  { kind, item, port: { protocol }, ip }: WantedAddress,
  node: RouteNode,
): SecurityGroup | undefined {
  const { service } = item.service;
  const ranges = kind.type === "load-balancer-ip" ? sourceRangesFor(service, ip) : [];
  if (ranges.length === 0) return undefined;
  // The node's own calls to the address can carry it as their source.
  const own = node.addresses.some((address) => anyContains(ranges, address)) ? [ip] : [];
  return {
    kind: "SecurityGroup",
    namespace: service.namespace,
    name: service.name,
    labels: {},
    annotations: {},
    defaultAccess: "deny",
    rules: [...ranges, ...own].map((network) => ({
      name: network,
      network,
      protocol,
      minPort: 1,
      maxPort: 65_535,
      access: "allow",
    })),
  };
}
