import { FAMILIES, familyOf } from "../../core/model/address.ts";
import { EMPTY } from "../../core/model/common.ts";
import { type Listener, protocolOf } from "../../core/model/listener.ts";
import { keyOf } from "../../core/model/object.ts";
import type { SecurityGroup } from "../../core/model/security-group.ts";
import type { Service, ServicePort } from "../../core/model/service.ts";
import type { FullState } from "../../core/sinks/fullstate.ts";
import { ipAddress, unixAddress } from "../../platform/socket-address.ts";
import { type ListenerConfig, PLAIN_LISTENER } from "../../proxy/engine-config.ts";
import { canListenOn, type NodeFacts } from "./node-facts.ts";
import type { NotHonoured } from "./not-honoured.ts";
import type { Families, UpstreamPlanner } from "./upstream-planner.ts";
import { isUsable } from "./usable.ts";

const LATER_MODES: ReadonlySet<Listener["mode"]> = new Set(["h2", "dns"]);

/** The listen addresses of this node. */
export function planListeners(
  { services, further }: FullState,
  facts: NodeFacts,
  upstreams: UpstreamPlanner,
  notHonoured: NotHonoured,
): readonly ListenerConfig[] {
  const configs: ListenerConfig[] = [];
  for (const listener of further.listeners.values()) {
    const obstacle = obstacleOf(listener, facts);
    const subject = `Listener ${keyOf(listener)}`;
    if (obstacle !== undefined) {
      notHonoured.add(obstacle, subject);
      continue;
    }
    if (listener.acceptLoops !== "" || listener.workLoops !== "") {
      notHonoured.add("named groups of event loops are not there in this version", subject);
    }
    const item = services.get(listener.service);
    const port = item && portOf(item.service.service, listener);
    const families = familiesOf(listener);
    if (item === undefined || port === undefined) {
      configs.push(configOf(listener, upstreams.nobody(), further["security-groups"]));
    } else if (protocolOf(listener) !== "UDP" || isUsable(item, port, families)) {
      const upstream = upstreams.forPort(item, port, families);
      configs.push(configOf(listener, upstream, further["security-groups"]));
    }
  }
  return configs;
}

/** Why this backend can not open it; undefined where it can. */
function obstacleOf(listener: Listener, facts: NodeFacts): string | undefined {
  const { mode, tls, address } = listener;
  if (tls !== undefined) return "TLS is not terminated in this version";
  if (LATER_MODES.has(mode)) return `mode ${mode} is not there in this version`;
  if (isPath(address) || canListenOn(facts, address)) return undefined;
  return "its address is none of this machine";
}

/** The port that a listener names; it need not where there is only one. */
function portOf({ ports }: Service, { servicePort }: Listener): ServicePort | undefined {
  if (servicePort === "" && ports.length === 1) return ports[0];
  return ports.find((port) => port.name === servicePort);
}

/** A server is called in the family that its client came by; a unix socket has none. */
function familiesOf({ address }: Listener): Families {
  return isPath(address) ? FAMILIES : [familyOf(address)];
}

function configOf(
  listener: Listener,
  upstream: string,
  securityGroups: ReadonlyMap<string, SecurityGroup>,
): ListenerConfig {
  const { address, port, mode, proxyProtocol, securityGroup } = listener;
  const { idleTimeoutMs, connectTimeoutMs, inBufferBytes, outBufferBytes, allowOthers } = listener;
  return {
    key: `listener ${keyOf(listener)}`,
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
    trustedHops: listener.trustedHops,
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
