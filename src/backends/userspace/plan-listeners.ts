import { FAMILIES, familyOf } from "../../core/model/address.ts";
import { EMPTY } from "../../core/model/common.ts";
import type { Group } from "../../core/model/group.ts";
import { type Listener, leadsTo } from "../../core/model/listener.ts";
import { keyOf } from "../../core/model/object.ts";
import type { SecurityGroup } from "../../core/model/security-group.ts";
import { groupsOf, type Service, type ServicePort } from "../../core/model/service.ts";
import type { FullState, ServiceEndpoints } from "../../core/sinks/fullstate.ts";
import { ipAddress, unixAddress } from "../../platform/socket-address.ts";
import {
  type ListenerConfig,
  PLAIN_LISTENER,
  type UpstreamException,
} from "../../proxy/engine-config.ts";
import type { ListenerFiles } from "./files/listener-files.ts";
import { type FilePlan, planFiles } from "./files/plan-files.ts";
import { planTls } from "./files/plan-tls.ts";
import { type Lead, ListenerGaps } from "./listener-gaps.ts";
import { canListenOn, type NodeFacts, ownAddresses, routeNodeOf } from "./node-facts.ts";
import type { NotHonoured } from "./not-honoured.ts";
import { TRANSPORT_ANNOTATION, transportObstacle, transportOf } from "./transport-of.ts";
import type { Families, UpstreamPlanner } from "./upstream-planner.ts";
import { isUsable } from "./usable.ts";

/** The listen addresses of this node. */
export function planListeners(
  state: FullState,
  facts: NodeFacts,
  upstreams: UpstreamPlanner,
  notHonoured: NotHonoured,
  files: ListenerFiles,
): readonly ListenerConfig[] {
  const { services, further } = state;
  const own = ownAddresses(routeNodeOf(state, facts), facts);
  const gaps = new ListenerGaps(further["security-groups"], notHonoured);
  const configs: ListenerConfig[] = [];
  for (const listener of further.listeners.values()) {
    const plan = planFiles(listener, files, facts);
    const { tls, ...tlsPlan } = planTls(listener, files.tls, facts);
    if (!isHere(listener, facts)) {
      notHonoured.addListener("its address is none of this machine", keyOf(listener));
      continue;
    }
    const item = services.get(listener.service);
    const obstacle =
      obstacleOf(listener, facts) ??
      agentObstacle(listener, item, further.groups) ??
      plan.obstacle ??
      tlsPlan.obstacle;
    if (obstacle !== undefined) {
      notHonoured.addClosed(obstacle, keyOf(listener));
      continue;
    }
    for (const note of plan.notes) notHonoured.add(note, `Listener ${keyOf(listener)}`);
    for (const note of tlsPlan.notes) notHonoured.addListener(note, keyOf(listener));
    const port = item && portOf(item.service.service, listener);
    const lead = { item, port, families: familiesOf(listener, item, further.groups) };
    gaps.note(listener, lead);
    const upstream = upstreamOf(listener, lead, upstreams);
    if (upstream === undefined) continue;
    const exceptions = exceptionsOf(listener, lead, upstreams, own);
    const config = configOf(listener, upstream, plan, further["security-groups"]);
    configs.push({ ...config, tls, exceptions });
  }
  return configs;
}

/** Key of the upstream that a listener leads to; undefined where its port is to stay closed. */
function upstreamOf(
  { mode }: Listener,
  { item, port, families }: Lead,
  upstreams: UpstreamPlanner,
): string | undefined {
  if (item === undefined || port === undefined) return upstreams.nobody();
  if (mode === "dns") return upstreams.forNames(item, port);
  if (mode === "udp" && !isUsable(item, port, families)) return undefined;
  return upstreams.forPort(item, port, families);
}

function exceptionsOf(
  { mode }: Listener,
  { item, port, families }: Lead,
  upstreams: UpstreamPlanner,
  own: readonly string[],
): readonly UpstreamException[] {
  if (item === undefined || port === undefined || mode === "dns") return [];
  return upstreams.exceptionsFor(own, item, port, families);
}

/** Whether this machine has its address; where it has not, another node of the same state may. */
function isHere({ address }: Listener, facts: NodeFacts): boolean {
  return isPath(address) || canListenOn(facts, address);
}

/** Why this backend can not open it; undefined where it can. */
function obstacleOf(listener: Listener, facts: NodeFacts): string | undefined {
  const { mode, address } = listener;
  if (mode === "dns" && isPath(address)) return "DNS needs an IP address to listen on";
  const obstacle = transportObstacle(listener, facts);
  if (obstacle !== undefined || transportOf(listener) === "tcp") return obstacle;
  const isFit = !isPath(address) && mode !== "udp" && mode !== "dns";
  return isFit
    ? undefined
    : `the annotation ${TRANSPORT_ANNOTATION} is for streams on an IP address`;
}

/** An agent speaks to its servers as their URLs say. */
function agentObstacle(
  { mode }: Listener,
  item: ServiceEndpoints | undefined,
  groups: ReadonlyMap<string, Group>,
): string | undefined {
  if (mode !== "websocks-agent") return undefined;
  const secured = groupsIn(item, groups).find(({ tls }) => tls !== undefined);
  return secured && `Group ${keyOf(secured)} has tls; expected wss:// in the URLs of its servers`;
}

/** The port that a listener names; it need not where there is only one. */
function portOf({ ports }: Service, listener: Listener): ServicePort | undefined {
  return ports.find(({ name }) => leadsTo(listener, name, ports.length));
}

/** A server is called in the family that its client came by; a unix socket has none, and names are told in both. */
function familiesOf(
  listener: Listener,
  item: ServiceEndpoints | undefined,
  groups: ReadonlyMap<string, Group>,
): Families {
  const { address, mode } = listener;
  // The servers of tunnels are called by the agent, not by its clients.
  const isFree = isPath(address) || mode === "dns" || mode === "websocks-agent";
  return isFree || hasTunnel(listener, item, groups) ? FAMILIES : [familyOf(address)];
}

/** A tunnel may go through a network of either family, whatever there is before and behind it. */
function hasTunnel(
  listener: Listener,
  item: ServiceEndpoints | undefined,
  groups: ReadonlyMap<string, Group>,
): boolean {
  if (transportOf(listener) === "kcp") return true;
  return groupsIn(item, groups).some((group) => transportOf(group) === "kcp");
}

/** The objects of the groups that a service sends to. */
function groupsIn(
  item: ServiceEndpoints | undefined,
  groups: ReadonlyMap<string, Group>,
): readonly Group[] {
  const refs = item === undefined ? [] : groupsOf(item.service.service);
  return refs.flatMap(({ group }) => groups.get(group) ?? []);
}

function configOf(
  listener: Listener,
  upstream: string,
  { config }: FilePlan,
  securityGroups: ReadonlyMap<string, SecurityGroup>,
): ListenerConfig {
  const { address, port, mode, proxyProtocol, securityGroup } = listener;
  const { idleTimeoutMs, connectTimeoutMs, inBufferBytes, outBufferBytes, allowOthers } = listener;
  return {
    key: keyOf(listener),
    address: isPath(address) ? unixAddress(address) : ipAddress(address, port),
    mode,
    upstream,
    proxyProtocol,
    access: securityGroup === "" ? undefined : (securityGroups.get(securityGroup) ?? NOBODY_MAY),
    idleTimeoutMs,
    connectTimeoutMs,
    inBufferBytes,
    outBufferBytes,
    allowOthers,
    ...PLAIN_LISTENER,
    transport: transportOf(listener),
    fallsBack: listener.fallsBack,
    acceptLoops: listener.acceptLoops,
    workLoops: listener.workLoops,
    trustedHops: listener.trustedHops,
    ...config,
  };
}

/** In place of a security group that does not exist. */
const NOBODY_MAY: SecurityGroup = {
  kind: "SecurityGroup",
  namespace: "portolan",
  name: "missing",
  labels: {},
  annotations: {},
  defaultAccess: "deny",
  rules: EMPTY,
};

function isPath(address: string): boolean {
  return address.startsWith("/");
}
