import { isLoopback, isWildcard } from "../../core/model/address.ts";
import { EMPTY } from "../../core/model/common.ts";
import type { RouteNode } from "../../core/route/route-node.ts";
import type { NodePortAddresses } from "../../core/route/route-policy.ts";
import type { FullState } from "../../core/sinks/fullstate.ts";
import type { RedirectPorts } from "./redirect/redirect-ports.ts";

/** What is known of this machine, and what its operator set. */
export interface NodeFacts {
  readonly nodeName: string;
  /** The addresses of its interfaces, as `canonicalIp` writes them. */
  readonly machineAddresses: ReadonlySet<string>;
  readonly nodePortAddresses: NodePortAddresses;
  /** Why TLS can not be terminated here; absent where it can. */
  readonly tlsObstacle?: string | undefined;
  /** Whether there is a secret for tunnels of KCP. */
  readonly hasTunnels?: boolean;
  /** Where calls are led to that the kernel redirects; absent where it is not asked to. */
  readonly redirectPorts?: RedirectPorts | undefined;
}

export const LOOPBACK: readonly string[] = ["127.0.0.1", "::1"];

/** The node that this machine is, as far as the state tells. */
export function routeNodeOf({ further }: FullState, { nodeName }: NodeFacts): RouteNode {
  const node = further.nodes.get(nodeName);
  const { zone = "", addresses = EMPTY, subnets = EMPTY } = node ?? {};
  return { name: nodeName, zone, addresses, subnets };
}

/** The addresses that calls of this machine's own programs come from. */
export function ownAddresses({ addresses }: RouteNode, facts: NodeFacts): readonly string[] {
  return [...new Set([...addresses, ...facts.machineAddresses, ...LOOPBACK])];
}

/** Whether a socket of this machine can listen on the address. */
export function canListenOn(
  { machineAddresses }: Pick<NodeFacts, "machineAddresses">,
  ip: string,
): boolean {
  return isWildcard(ip) || isLoopback(ip) || machineAddresses.has(ip);
}
