import { familyOf, parseCidr } from "../core/model/address.ts";
import { type Listener, protocolOf } from "../core/model/listener.ts";
import { ruleConcerns } from "../core/model/rule-concerns.ts";
import type { Access, SecurityGroup } from "../core/model/security-group.ts";
import { type Service, sourceRangesFor } from "../core/model/service.ts";
import { anyContains, type RouteNode } from "../core/route/route-node.ts";
import { hostNetwork } from "../platform/linux/iptables/rule.ts";

/** Who is let in: the first network that holds the source decides, then `otherwise`. */
export interface AccessList {
  readonly entries: readonly AccessEntry[];
  readonly otherwise: Access;
}

interface AccessEntry {
  /** Where the client comes from. */
  readonly network: string;
  readonly access: Access;
  /** Only for calls to this network; undefined: for all. */
  readonly destination?: string;
}

/** Who may use load-balancer addresses; the node's own packets to one can carry it as their source. */
export function sourceRangeAccess(
  service: Service,
  balancerIPs: readonly string[],
  node: RouteNode,
): AccessList | undefined {
  const ranges = sourceRangesFor(service, balancerIPs[0] ?? "");
  if (ranges.length === 0) return undefined;
  const isNodeIn = node.addresses.some((own) => anyContains(ranges, own));
  const itself = isNodeIn ? balancerIPs.map(hostNetwork) : [];
  return {
    entries: [
      ...ranges.map((network) => ({ network, access: "allow" as const })),
      ...itself.map((ip) => ({ network: ip, destination: ip, access: "allow" as const })),
    ],
    otherwise: "deny",
  };
}

/** The longest network decides, so it stands first. A group that does not exist lets nobody in. */
export function listenerAccess(
  listener: Listener,
  groups: ReadonlyMap<string, SecurityGroup>,
): AccessList | undefined {
  if (listener.securityGroup === "") return undefined;
  const group = groups.get(listener.securityGroup);
  if (group === undefined) return { entries: [], otherwise: "deny" };
  const entries = group.rules
    .filter(
      (rule) =>
        ruleConcerns(rule, protocolOf(listener), listener.port) &&
        familyOf(rule.network) === familyOf(listener.address),
    )
    .map(({ network, access }) => ({ network, access }))
    .sort((a, b) => prefixOf(b.network) - prefixOf(a.network));
  return { entries, otherwise: group.defaultAccess };
}

function prefixOf(network: string): number {
  return parseCidr(network)?.prefix ?? 0;
}
