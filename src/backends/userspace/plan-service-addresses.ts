import { familyOf } from "../../core/model/address.ts";
import type { RouteNode } from "../../core/route/route-node.ts";
import type { FullState } from "../../core/sinks/fullstate.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { ListenerConfig } from "../../proxy/engine-config.ts";
import { canListenOn, type NodeFacts, ownAddresses, routeNodeOf } from "./node-facts.ts";
import type { NotHonoured } from "./not-honoured.ts";
import { serviceListener } from "./service-listener.ts";
import { sourceAccess } from "./source-access.ts";
import type { UpstreamPlanner } from "./upstream-planner.ts";
import { isUsable } from "./usable.ts";
import { type WantedAddress, wantedAddresses } from "./wanted-address.ts";

export interface ServiceAddresses {
  readonly listeners: readonly ListenerConfig[];
  /** Those that this machine does not have, whose calls the kernel is to redirect. */
  readonly redirected: readonly WantedAddress[];
}

/** Where the addresses of services are served; those that win over others first. */
export function planServiceAddresses(
  state: FullState,
  facts: NodeFacts,
  upstreams: UpstreamPlanner,
  notHonoured: NotHonoured,
): ServiceAddresses {
  const node = routeNodeOf(state, facts);
  const own = ownAddresses(node, facts);
  const listeners: ListenerConfig[] = [];
  const redirected: WantedAddress[] = [];
  for (const wanted of wantedAddresses(state, node, facts)) {
    const { item, port, ip } = wanted;
    const obstacle = obstacleOf(wanted, facts);
    if (obstacle !== undefined) notHonoured.add(obstacle, `Service ${item.service.key}`);
    else if (!isServedHere(wanted, facts)) redirected.push(wanted);
    else if (port.protocol !== "UDP" || isUsable(item, port, [familyOf(ip)])) {
      listeners.push(configOf(wanted, upstreams, node, own));
    }
  }
  for (const { service } of state.services.values()) {
    if (service.service.edgeIPs.length === 0) continue;
    notHonoured.add("edge addresses need the edge backend", `Service ${service.key}`);
  }
  noteUnknownNode(state, node, facts, notHonoured);
  return { listeners, redirected };
}

/** A cluster IP is nobody's, also where some machine has it. */
function isServedHere({ kind, ip }: WantedAddress, facts: NodeFacts): boolean {
  return kind.type !== "cluster-ip" && canListenOn(facts, ip);
}

function obstacleOf(wanted: WantedAddress, facts: NodeFacts): string | undefined {
  const { kind, port } = wanted;
  if (port.protocol === "SCTP") return "SCTP is not proxied";
  if (isServedHere(wanted, facts)) return undefined;
  if (kind.type !== "node-port" && facts.redirectPorts !== undefined) return undefined;
  return kind.type === "cluster-ip"
    ? "cluster IPs are led to the proxy only with --redirect"
    : `${kind.words} that are no addresses of this machine`;
}

/** Node ports answer on addresses that only the Node object tells. */
function noteUnknownNode(
  state: FullState,
  node: RouteNode,
  { nodePortAddresses }: NodeFacts,
  notHonoured: NotHonoured,
): void {
  if (node.addresses.length > 0 || nodePortAddresses === "localhost") return;
  const reason = `node ports do not answer: the state has no addresses of node ${node.name}`;
  for (const { service } of state.services.values()) {
    const hasNodePort = service.service.ports.some((port) => port.nodePort !== 0);
    if (hasNodePort) notHonoured.add(reason, `Service ${service.key}`);
  }
}

function configOf(
  wanted: WantedAddress,
  upstreams: UpstreamPlanner,
  node: RouteNode,
  own: readonly string[],
): ListenerConfig {
  const { kind, item, port, ip, number } = wanted;
  const families = [familyOf(ip)];
  return serviceListener({
    key: `${kind.type} ${item.service.key}:${port.port}/${port.protocol} ${ip}`,
    address: ipAddress(ip, number),
    mode: port.protocol === "UDP" ? "udp" : "tcp",
    upstream: upstreams.forPort(item, port, families),
    exceptions: upstreams.exceptionsFor(own, item, port, families),
    access: sourceAccess(wanted, node),
  });
}
