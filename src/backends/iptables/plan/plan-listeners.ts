import { familyOf, isWildcard, parseCidr } from "../../../core/model/address.ts";
import { type Listener, protocolOf } from "../../../core/model/listener.ts";
import { keyOf } from "../../../core/model/object.ts";
import { ruleConcerns, type SecurityGroup } from "../../../core/model/security-group.ts";
import type { Service, ServicePort } from "../../../core/model/service.ts";
import { listenerFirewallChain } from "./chain-names.ts";
import type { GroupBuilder } from "./group-rules.ts";
import { LISTENERS, LISTENERS_ANY } from "./owned-chains.ts";
import type { PlanContext } from "./plan-context.ts";
import { type AccessList, planEntrance } from "./plan-entrances.ts";
import type { PortPlan } from "./plan-port-chains.ts";
import { hostNetwork } from "./rule.ts";

/** The listeners that name one service and are for this node, and who may call them. */
export interface ListenerPlans {
  readonly listeners: readonly Listener[];
  readonly securityGroups: ReadonlyMap<string, SecurityGroup>;
}

/** Whether a rule can do what a listener asks: packets are led on, not read. */
export function isForTheKernel(listener: Listener): boolean {
  const { mode, tls, proxyProtocol, address } = listener;
  return (
    (mode === "tcp" || mode === "udp") &&
    tls === undefined &&
    proxyProtocol.send === "none" &&
    proxyProtocol.acceptFrom.length === 0 &&
    !address.startsWith("/")
  );
}

/** Whether one of them leads to the port. */
export function listenersTo(
  { listeners }: ListenerPlans,
  service: Service,
  port: ServicePort,
): boolean {
  return listeners.some((listener) => leadsTo(listener, port.name, service.ports.length));
}

/** A listener need not name the port of a service that has only one. */
function leadsTo({ servicePort }: Listener, portName: string, portCount: number): boolean {
  return servicePort === portName || (servicePort === "" && portCount === 1);
}

/** @param ports those that something leads to, of all `portCount` that the service has */
export function planListeners(
  { listeners, securityGroups }: ListenerPlans,
  ports: readonly PortPlan[],
  portCount: number,
  context: PlanContext,
  builder: GroupBuilder,
): void {
  for (const listener of listeners) {
    if (familyOf(listener.address) !== context.family) continue;
    const isAny = isWildcard(listener.address);
    const key = keyOf(listener);
    planEntrance(
      {
        destinations: isAny ? context.everyDestination : [hostNetwork(listener.address)],
        protocol: protocolOf(listener),
        port: listener.port,
        chain: isAny ? LISTENERS_ANY : LISTENERS,
        access: accessOf(listener, securityGroups),
        firewallChain: listenerFirewallChain(key),
        plan: ports.find(({ portName }) => leadsTo(listener, portName, portCount)),
        what: `${listener.service} listener ${key}`,
      },
      context,
      builder,
    );
  }
}

/** The longest network decides, so it stands first. A group that does not exist lets nobody in. */
function accessOf(
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
