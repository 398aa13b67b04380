import { cidrContains, parseCidr } from "../model/address.ts";
import type { Listener } from "../model/listener.ts";
import { ruleConcerns } from "../model/rule-concerns.ts";
import type { Access, SecurityGroup, SecurityRule } from "../model/security-group.ts";
import { type Service, sourceRangesFor } from "../model/service.ts";
import type { GlobalState } from "../store/state.ts";
import type { Packet } from "./packet.ts";
import { anyContains, type RouteNode } from "./route-node.ts";

/** Whether a packet is let in, and why, in words. */
export interface AccessDecision {
  readonly access: Access;
  readonly reason: string;
}

/** Who may use a load-balancer address; undefined where everyone may. */
export function sourceRangeAccess(
  service: Service,
  packet: Packet,
  node: RouteNode,
): AccessDecision | undefined {
  const ranges = sourceRangesFor(service, packet.dst);
  if (ranges.length === 0) return undefined;
  const named = ranges.join(", ");
  if (anyContains(ranges, packet.src)) {
    return { access: "allow", reason: `source ${packet.src} is inside the source ranges ${named}` };
  }
  // The node's own packets to the address can carry it as their source.
  if (packet.src === packet.dst && node.addresses.some((own) => anyContains(ranges, own))) {
    return {
      access: "allow",
      reason: `source ${packet.src} is the address itself, and the source ranges ${named} hold this node`,
    };
  }
  return { access: "deny", reason: `source ${packet.src} is outside the source ranges ${named}` };
}

/** Who may call a listener; undefined where everyone may. A group that does not exist lets nobody in. */
export function listenerAccess(
  global: GlobalState,
  listener: Listener,
  packet: Packet,
): AccessDecision | undefined {
  const key = listener.securityGroup;
  if (key === "") return undefined;
  const group = global.securityGroups.get(key);
  if (group === undefined) {
    return { access: "deny", reason: `security group ${key} does not exist: nobody is let in` };
  }
  const rule = decidingRule(group, listener.port, packet);
  if (rule === undefined) {
    return {
      access: group.defaultAccess,
      reason: `no rule of security group ${key} is about ${packet.src}; its default is ${group.defaultAccess}`,
    };
  }
  return {
    access: rule.access,
    reason: `rule ${rule.name} of security group ${key} says ${rule.access} for ${rule.network}`,
  };
}

/** Of the rules for the client and the listening port, the one with the longest prefix; then the first. */
function decidingRule(
  group: SecurityGroup,
  port: number,
  { src: client, protocol }: Packet,
): SecurityRule | undefined {
  let best: { rule: SecurityRule; prefix: number } | undefined;
  for (const rule of group.rules) {
    if (!ruleConcerns(rule, protocol, port)) continue;
    const network = parseCidr(rule.network);
    if (network === undefined || !cidrContains(network, client)) continue;
    if (best === undefined || network.prefix > best.prefix) best = { rule, prefix: network.prefix };
  }
  return best?.rule;
}
