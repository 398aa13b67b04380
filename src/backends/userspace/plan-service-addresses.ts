import { familyOf } from "../../core/model/address.ts";
import { EMPTY, type Protocol } from "../../core/model/common.ts";
import { type Listener, listenerSchema } from "../../core/model/listener.ts";
import type { SecurityGroup } from "../../core/model/security-group.ts";
import { type Service, type ServicePort, sourceRangesFor } from "../../core/model/service.ts";
import { answersNodePorts, anyContains, type RouteNode } from "../../core/route/route-node.ts";
import type { FullState, ServiceEndpoints } from "../../core/sinks/fullstate.ts";
import type { NodeService } from "../../core/view/ops.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { type ListenerConfig, PLAIN_LISTENER } from "../../proxy/engine-config.ts";
import { canListenOn, type NodeFacts } from "./node-facts.ts";
import type { NotHonoured } from "./not-honoured.ts";
import type { UpstreamPlanner } from "./upstream-planner.ts";
import { isUsable } from "./usable.ts";

/** A kind of address on which services want to be called. */
interface AddressKind {
  readonly type: "external-ip" | "load-balancer-ip" | "node-port";
  readonly words: string;
  /** Where a port answers. */
  place(service: Service, port: ServicePort, nodePortIps: readonly string[]): Place;
}

interface Place {
  readonly ips: readonly string[];
  readonly number: number;
}

/** In the order in which one wins over another. */
const ADDRESS_KINDS: readonly AddressKind[] = [
  {
    type: "external-ip",
    words: "external IPs",
    place: ({ externalIPs: ips }, { port: number }) => ({ ips, number }),
  },
  {
    type: "load-balancer-ip",
    words: "load-balancer IPs",
    place: ({ loadBalancerIPs: ips }, { port: number }) => ({ ips, number }),
  },
  {
    type: "node-port",
    words: "node ports on addresses",
    place: (_, { nodePort: number }, ips) => ({ ips: number === 0 ? [] : ips, number }),
  },
];

/** One address of one port of a service. */
interface Wanted {
  readonly kind: AddressKind;
  readonly item: ServiceEndpoints;
  readonly port: ServicePort;
  readonly ip: string;
  readonly number: number;
}

const LOOPBACK: readonly string[] = ["127.0.0.1", "::1"];

/** Time-outs and buffers of what is no listener of its own. */
const DEFAULTS: Listener = listenerSchema.parse({
  kind: "Listener",
  name: "defaults",
  address: "127.0.0.1",
  port: 1,
  service: "portolan/defaults",
});

/** The addresses of services that are also addresses of this machine; those that win over others first. */
export function planServiceAddresses(
  state: FullState,
  facts: NodeFacts,
  upstreams: UpstreamPlanner,
  notHonoured: NotHonoured,
): readonly ListenerConfig[] {
  const node = routeNode(state, facts);
  const configs: ListenerConfig[] = [];
  for (const { service, key } of services(state)) noteOutOfReach(service, key, notHonoured);
  for (const wanted of wantedAddresses(state, node, facts)) {
    const { item, port, ip } = wanted;
    const obstacle = obstacleOf(wanted, facts);
    if (obstacle !== undefined) notHonoured.add(obstacle, `Service ${item.service.key}`);
    else if (port.protocol !== "UDP" || isUsable(item, port, [familyOf(ip)])) {
      configs.push(configOf(wanted, upstreams, node));
    }
  }
  noteUnknownNode(state, node, facts, notHonoured);
  return configs;
}

function* wantedAddresses(state: FullState, node: RouteNode, facts: NodeFacts): Generator<Wanted> {
  const nodePortIps = [...new Set([...node.addresses, ...LOOPBACK])].filter((ip) =>
    answersNodePorts(node, facts.nodePortAddresses, ip),
  );
  for (const kind of ADDRESS_KINDS) {
    for (const item of state.services.values()) {
      const { service } = item.service;
      for (const port of service.ports) {
        const { ips, number } = kind.place(service, port, nodePortIps);
        for (const ip of ips) yield { kind, item, port, ip, number };
      }
    }
  }
}

function services(state: FullState): readonly NodeService[] {
  return [...state.services.values()].map((item) => item.service);
}

function noteOutOfReach(service: Service, key: string, notHonoured: NotHonoured): void {
  const subject = `Service ${key}`;
  if (service.clusterIPs.length > 0) {
    notHonoured.add("cluster IPs are not led to the proxy in this version", subject);
  }
  if (service.edgeIPs.length > 0) notHonoured.add("edge addresses need the edge backend", subject);
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
  for (const { service, key } of services(state)) {
    const hasNodePort = service.ports.some((port) => port.nodePort !== 0);
    if (hasNodePort) notHonoured.add(reason, `Service ${key}`);
  }
}

function obstacleOf({ kind, ip, port }: Wanted, facts: NodeFacts): string | undefined {
  if (port.protocol === "SCTP") return "SCTP is not proxied";
  if (canListenOn(facts, ip)) return undefined;
  return `${kind.words} that are no addresses of this machine`;
}

function routeNode({ further }: FullState, { nodeName }: NodeFacts): RouteNode {
  const node = further.nodes.get(nodeName);
  const { zone = "", addresses = EMPTY, subnets = EMPTY } = node ?? {};
  return { name: nodeName, zone, addresses, subnets };
}

function configOf(wanted: Wanted, upstreams: UpstreamPlanner, node: RouteNode): ListenerConfig {
  const { kind, item, port, ip, number } = wanted;
  const { service, key } = item.service;
  const isGuarded = kind.type === "load-balancer-ip";
  const { proxyProtocol, idleTimeoutMs, connectTimeoutMs, inBufferBytes, outBufferBytes } =
    DEFAULTS;
  return {
    key: `${kind.type} ${key}:${port.port}/${port.protocol} ${ip}`,
    address: ipAddress(ip, number),
    mode: port.protocol === "UDP" ? "udp" : "tcp",
    upstream: upstreams.forPort(item, port, [familyOf(ip)]),
    proxyProtocol,
    access: isGuarded ? rangesOf(service, ip, port.protocol, node) : undefined,
    idleTimeoutMs,
    connectTimeoutMs,
    inBufferBytes,
    outBufferBytes,
    allowOthers: false,
    ...PLAIN_LISTENER,
  };
}

/** The source ranges of a load-balancer address as a list of who may call; undefined: everyone. */
function rangesOf(
  service: Service,
  ip: string,
  protocol: Protocol,
  node: RouteNode,
): SecurityGroup | undefined {
  const ranges = sourceRangesFor(service, ip);
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
