import type { Group } from "../../../core/model/group.ts";
import { groupsOf, type Service } from "../../../core/model/service.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import { leftOut } from "../../left-out.ts";
import { chooseScheduler, type Scheduler, WITHOUT_WEIGHTS } from "./balancing.ts";

/** What IPVS can not do of what is asked for a service, in words. */
export function limitsOfService(
  { service: { service }, endpoints }: ServiceEndpoints,
  groups: ReadonlyMap<string, Group>,
  otherwise: Scheduler,
): readonly string[] {
  const { scheduler, limits } = chooseScheduler(service, groups, otherwise);
  const own = groupsOf(service).flatMap(({ group }) => groups.get(group) ?? []);
  const weights = new Set(endpoints.map(({ endpoint }) => endpoint.weight));
  const isUneven = weights.size > 1 || service.groups.length > 1;
  return [
    ...limits,
    ...(isUneven && WITHOUT_WEIGHTS.includes(scheduler)
      ? [`the scheduler ${scheduler} does not look at weights`]
      : []),
    ...(own.some(({ healthCheck }) => healthCheck.protocol !== "none")
      ? ["health checks need a proxy: every endpoint counts as healthy"]
      : []),
    ...(own.some(({ tls }) => tls !== undefined) ? ["TLS to servers needs a proxy"] : []),
    ...(own.some(({ slowStartMs }) => slowStartMs > 0) ? ["slow start needs a proxy"] : []),
    ...leftOut(endpoints),
    ...(service.edgeIPs.length > 0 ? ["edge addresses are served by the backend edge"] : []),
  ];
}

/** Those of its addresses that are left to others, in words. */
export function excludedLimits(
  { externalIPs, clusterIPs, loadBalancerIPs, ports }: Service,
  nodeAddresses: readonly string[],
  isExcluded: (ip: string) => boolean,
): readonly string[] {
  const nodePorts = ports.some(({ nodePort }) => nodePort !== 0) ? nodeAddresses : [];
  return [
    ...[...clusterIPs, ...externalIPs, ...loadBalancerIPs]
      .filter(isExcluded)
      .map((ip) => `${ip} is in --ipvs-exclude-cidrs, and so left to others: it is not served`),
    ...nodePorts
      .filter(isExcluded)
      .map((ip) => `${ip} is in --ipvs-exclude-cidrs: node ports are not served there`),
  ];
}
