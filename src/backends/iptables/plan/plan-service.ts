import { familyOf } from "../../../core/model/address.ts";
import type { Service, ServicePort } from "../../../core/model/service.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import { hostNetwork, refusalTarget, renderRule } from "../../../platform/linux/iptables/rule.ts";
import { sourceRangeAccess } from "../../access-list.ts";
import { HEALTH_PORTS, NODE_PORTS, REFUSED_SERVICES, SERVICES } from "../../kube-chains.ts";
import type { PlanContext } from "../../plan-context.ts";
import { portOutcomes } from "../../port-targets.ts";
import { serviceChains, servicePortName } from "./chain-names.ts";
import { GroupBuilder, type GroupRules } from "./group-rules.ts";
import { type ServiceContext, shareByClusterIp, shareByNetwork } from "./network-chains.ts";
import { planEntrance, REASONS } from "./plan-entrances.ts";
import { type ListenerPlans, listenersTo, planListeners } from "./plan-listeners.ts";
import { comment, internalChain, type PortPlan, planPortChains } from "./plan-port-chains.ts";

/** All rules of a service in one family, and of the listeners that lead to it. */
export function planService(
  entry: ServiceEndpoints | undefined,
  listeners: ListenerPlans,
  context: ServiceContext,
): GroupRules {
  const builder = new GroupBuilder();
  const ports = entry === undefined ? [] : planPorts(entry, listeners, context);
  for (const { plan, port } of ports) {
    planPortChains(plan, context, builder);
    planInternal(plan, context, builder);
    planExternalAddresses(plan, port, context, builder);
  }
  planListeners(
    listeners,
    ports.map(({ plan }) => plan),
    entry?.service.service.ports.length ?? 0,
    context,
    builder,
  );
  if (entry !== undefined) planServiceWide(entry.service.service, context, builder);
  return builder.build();
}

interface PlannedPort {
  readonly port: ServicePort;
  readonly plan: PortPlan;
}

function planPorts(
  entry: ServiceEndpoints,
  listeners: ListenerPlans,
  { family }: PlanContext,
): readonly PlannedPort[] {
  const { key, service } = entry.service;
  const own = (ips: readonly string[]) => ips.filter((ip) => familyOf(ip) === family);
  const clusterIPs = own(service.clusterIPs);
  const hasOuter = own([...service.externalIPs, ...service.loadBalancerIPs]).length > 0;
  const planned: PlannedPort[] = [];
  service.ports.forEach((port, index) => {
    const isExternal = hasOuter || port.nodePort !== 0 || listenersTo(listeners, service, port);
    // Nothing leads to it in this family.
    if (!isExternal && clusterIPs.length === 0) return;
    const name = servicePortName(key, port);
    const plan = {
      service,
      name,
      portName: port.name,
      protocol: port.protocol,
      port: port.port,
      clusterIPs,
      isExternal,
      outcomes: portOutcomes(entry, index, family),
      chains: serviceChains(name, port.protocol),
    };
    planned.push({ port, plan });
  });
  return planned;
}

/** Calls of cluster IPs. */
function planInternal(plan: PortPlan, context: ServiceContext, builder: GroupBuilder): void {
  const { service, protocol, port, outcomes } = plan;
  const target = internalChain(plan);
  const list = service.internalTrafficPolicy === "Local" ? outcomes.local : outcomes.cluster;
  for (const ip of plan.clusterIPs) {
    const destination = hostNetwork(ip);
    const call = { destination, protocol, port };
    if (target !== undefined) {
      const commented = comment(context, () => `${plan.name} cluster IP`);
      const rule = renderRule({ ...call, ...commented, target });
      shareByNetwork(builder, SERVICES, destination, context, [rule]);
    } else if (list.kind !== "targets") {
      const commented = comment(context, () => `${plan.name} ${REASONS[list.kind]}`);
      const refusal = refusalTarget(list.kind, context.family, protocol);
      const rule = renderRule({ ...call, ...commented, target: refusal });
      shareByNetwork(builder, REFUSED_SERVICES, destination, context, [rule]);
    }
  }
}

/** External IPs, load-balancer IPs and the node port. */
function planExternalAddresses(
  plan: PortPlan,
  port: ServicePort,
  context: ServiceContext,
  builder: GroupBuilder,
): void {
  if (!plan.isExternal) return;
  const { service, name, protocol } = plan;
  const firewallChain = plan.chains.firewall;
  const common = { protocol, firewallChain, plan };
  // An address of several kinds is what it is first.
  const taken = new Set(plan.clusterIPs);
  const free = (ips: readonly string[]): readonly string[] => {
    const own = ips.filter((ip) => familyOf(ip) === context.family && !taken.has(ip));
    for (const ip of own) taken.add(ip);
    return own;
  };
  const atAddresses = { ...common, chain: SERVICES, port: port.port };
  const externalIPs = free(service.externalIPs).map(hostNetwork);
  if (externalIPs.length > 0) {
    const what = `${name} external IP`;
    const entrance = { ...atAddresses, destinations: externalIPs, access: undefined, what };
    planEntrance(entrance, context, builder);
  }
  const balancerIPs = free(service.loadBalancerIPs);
  if (balancerIPs.length > 0) {
    const what = `${name} loadbalancer IP`;
    const access = sourceRangeAccess(service, balancerIPs, context.node);
    const destinations = balancerIPs.map(hostNetwork);
    planEntrance({ ...atAddresses, destinations, access, what }, context, builder);
  }
  if (port.nodePort !== 0) {
    const destinations = context.nodePortDestinations;
    const entrance = { ...common, chain: NODE_PORTS, port: port.nodePort, destinations } as const;
    planEntrance(
      { ...entrance, isNodePort: true, access: undefined, what: `${name} node port` },
      context,
      builder,
    );
  }
}

/** What holds for all ports: those that it does not have are refused, its health port is open. */
function planServiceWide(service: Service, context: ServiceContext, builder: GroupBuilder): void {
  const { family } = context;
  const key = `${service.namespace}/${service.name}`;
  for (const ip of service.clusterIPs) {
    if (familyOf(ip) !== family) continue;
    const destination = hostNetwork(ip);
    const commented = comment(context, () => `${key} has no such port`);
    const call = { destination, ...commented };
    shareByClusterIp(builder, destination, context, [
      renderRule({ ...call, protocol: "TCP", target: refusalTarget("reject", family, "TCP") }),
      renderRule({ ...call, target: refusalTarget("reject", family, undefined) }),
    ]);
  }
  if (service.healthCheckNodePort === 0) return;
  builder.share(
    HEALTH_PORTS,
    renderRule({
      protocol: "TCP",
      ...comment(context, () => `${key} health check node port`),
      port: service.healthCheckNodePort,
      target: "ACCEPT",
    }),
  );
}
