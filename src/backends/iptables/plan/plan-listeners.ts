import { familyOf, isWildcard } from "../../../core/model/address.ts";
import { type Listener, leadsTo, protocolOf } from "../../../core/model/listener.ts";
import { keyOf } from "../../../core/model/object.ts";
import type { SecurityGroup } from "../../../core/model/security-group.ts";
import type { Service, ServicePort } from "../../../core/model/service.ts";
import { hostNetwork } from "../../../platform/linux/iptables/rule.ts";
import { listenerAccess } from "../../access-list.ts";
import { LISTENERS, LISTENERS_ANY } from "../../kube-chains.ts";
import { listenerFirewallChain } from "./chain-names.ts";
import type { GroupBuilder } from "./group-rules.ts";
import type { ServiceContext } from "./network-chains.ts";
import { planEntrance } from "./plan-entrances.ts";
import type { PortPlan } from "./plan-port-chains.ts";

/** The listeners that name one service and are for this node, and who may call them. */
export interface ListenerPlans {
  readonly listeners: readonly Listener[];
  readonly securityGroups: ReadonlyMap<string, SecurityGroup>;
}

/** Whether one of them leads to the port. */
export function listenersTo(
  { listeners }: ListenerPlans,
  service: Service,
  port: ServicePort,
): boolean {
  return listeners.some((listener) => leadsTo(listener, port.name, service.ports.length));
}

/** @param ports those that something leads to, of all `portCount` that the service has */
export function planListeners(
  { listeners, securityGroups }: ListenerPlans,
  ports: readonly PortPlan[],
  portCount: number,
  context: ServiceContext,
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
        access: listenerAccess(listener, securityGroups),
        firewallChain: listenerFirewallChain(key),
        plan: ports.find(({ portName }) => leadsTo(listener, portName, portCount)),
        what: `${listener.service} listener ${key}`,
      },
      context,
      builder,
    );
  }
}
