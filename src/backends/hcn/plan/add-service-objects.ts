import { type Family, familyOf } from "../../../core/model/address.ts";
import type { Service, ServicePort } from "../../../core/model/service.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import type { MappingFlag } from "../../../platform/windows/load-balancer.ts";
import { type Outcome, type PortOutcomes, portOutcomes, type Target } from "../../port-targets.ts";
import { type HcnContext, isOverlay } from "./hcn-context.ts";
import { PRESERVE_DESTINATION, serviceLimits } from "./service-limits.ts";
import { type FrontendPlan, ServiceObjects } from "./service-objects.ts";

/** Cluster IPs are internal load balancers. */
const INTERNAL = "portolan/hcn-ilb";

/** One port of a service in one family. */
interface PortPlan {
  readonly service: Service;
  readonly port: ServicePort;
  readonly family: Family;
  readonly outcomes: PortOutcomes;
  readonly context: HcnContext;
  readonly objects: ServiceObjects;
}

/** All that has to exist for a service; what is in HNS already does not matter. */
export function planServiceObjects(entry: ServiceEndpoints, context: HcnContext): ServiceObjects {
  const { service } = entry.service;
  const objects = new ServiceObjects(context, localIpsOf(entry));
  for (const limit of serviceLimits(entry, context)) objects.limits.add(limit);
  for (const family of context.families) {
    service.ports.forEach((port, index) => {
      const outcomes = portOutcomes(entry, index, family);
      const plan: PortPlan = { service, port, family, outcomes, context, objects };
      addForClusterIps(plan);
      addForNodePort(plan);
      addForExternalIps(plan);
      addForLoadBalancerIps(plan);
    });
  }
  return objects;
}

function addForClusterIps(plan: PortPlan): void {
  const { service, outcomes, context, objects } = plan;
  const { features, network, isDsrEnabled } = context;
  const targets = targetsOf(
    service.internalTrafficPolicy === "Local" ? outcomes.local : outcomes.cluster,
  );
  const isInternal = service.annotations[INTERNAL] === "true" && features.ilb;
  for (const vip of ofFamily(service.clusterIPs, plan.family)) {
    if (isOverlay(network) && targets.length > 0) objects.addClusterIpEndpoint(vip);
    objects.addLoadBalancer(
      frontendOf(plan, vip, { isDsr: isDsrEnabled, flags: isInternal ? ["ilb"] : [] }),
      targets,
    );
  }
}

function addForNodePort(plan: PortPlan): void {
  const { nodePort } = plan.port;
  if (nodePort === 0 || !plan.context.features.localRoutedVip) return;
  const { targets, isLocal } = externalTargets(plan);
  const flags = ["localRoutedVip", "vipExternalIp"] as const;
  const frontend = frontendOf(plan, "", { isDsr: isLocal, flags });
  plan.objects.addLoadBalancer({ ...frontend, port: nodePort }, targets);
}

function addForExternalIps(plan: PortPlan): void {
  const { targets, isLocal } = externalTargets(plan);
  for (const vip of ofFamily(plan.service.externalIPs, plan.family)) {
    const frontend = frontendOf(plan, vip, { isDsr: isLocal, flags: ["vipExternalIp"] });
    plan.objects.addLoadBalancer(frontend, targets);
  }
}

function addForLoadBalancerIps(plan: PortPlan): void {
  const { service, context } = plan;
  const { targets, isLocal } = externalTargets(plan);
  const preserves =
    service.annotations[PRESERVE_DESTINATION] === "true" && context.features.preserveDip;
  const flags: readonly MappingFlag[] = preserves
    ? ["useMux", "preserveDip", "vipExternalIp"]
    : ["vipExternalIp"];
  for (const vip of ofFamily(service.loadBalancerIPs, plan.family)) {
    const frontend = frontendOf(plan, vip, { isDsr: isLocal || preserves, flags });
    plan.objects.addLoadBalancer(frontend, targets);
  }
}

function externalTargets({ service, outcomes }: PortPlan): {
  readonly targets: readonly Target[];
  readonly isLocal: boolean;
} {
  const isLocal = service.externalTrafficPolicy === "Local";
  return { targets: targetsOf(isLocal ? outcomes.local : outcomes.cluster), isLocal };
}

function frontendOf(
  { service, port, family, context }: PortPlan,
  vip: string,
  { isDsr, flags }: Pick<FrontendPlan, "isDsr" | "flags">,
): FrontendPlan {
  return {
    family,
    protocol: port.protocol,
    vip,
    port: port.port,
    isDsr: isDsr && context.features.dsr,
    isSticky: service.affinitySeconds > 0 && context.features.affinity,
    flags,
  };
}

function targetsOf(outcome: Outcome): readonly Target[] {
  return outcome.kind === "targets" ? outcome.targets : [];
}

function ofFamily(ips: readonly string[], family: Family): readonly string[] {
  return ips.filter((ip) => familyOf(ip) === family);
}

/** Addresses of endpoints on this node. */
export function localIpsOf({ endpoints }: ServiceEndpoints): ReadonlySet<string> {
  return new Set(endpoints.flatMap((one) => (one.local ? one.endpoint.addresses : [])));
}
