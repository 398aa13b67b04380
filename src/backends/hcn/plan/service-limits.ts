import { familyOf } from "../../../core/model/address.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import { leftOut } from "../../left-out.ts";
import type { HcnContext } from "./hcn-context.ts";

/** The destination stays what the client wrote, so that endpoints see the address that was called. */
export const PRESERVE_DESTINATION = "preserve-destination";

/** What HCN, or this version of it, can not do of what is asked for a service, in words. */
export function serviceLimits(
  { service: { service }, endpoints }: ServiceEndpoints,
  { features, families, isDsrEnabled }: HcnContext,
): readonly string[] {
  const limits: string[] = [];
  const { affinitySeconds, externalTrafficPolicy, ports } = service;
  const ips = [...service.clusterIPs, ...service.externalIPs, ...service.loadBalancerIPs];
  if (affinitySeconds > 0) {
    limits.push(
      features.affinity
        ? "HCN has no time-out for affinity: clients stay with their endpoint as long as it is there"
        : "affinity needs HNS 12.0: clients do not stay with their endpoint",
    );
  }
  if (service.sourceRanges.length > 0 && service.loadBalancerIPs.length > 0) {
    limits.push("HCN has no source ranges: everyone may call the load-balancer addresses");
  }
  if ((externalTrafficPolicy === "Local" || isDsrEnabled) && !features.dsr) {
    limits.push("direct server return needs HNS 10.2: endpoints do not see clients' addresses");
  }
  if (service.annotations[PRESERVE_DESTINATION] === "true" && !features.preserveDip) {
    limits.push("to preserve the destination needs HNS 10.2: endpoints see their own address");
  }
  if (ips.some((ip) => !families.includes(familyOf(ip)))) {
    limits.push("the network, or this HNS, does not serve the family of some addresses");
  }
  limits.push(...leftOut(endpoints));
  if (service.edgeIPs.length > 0) limits.push("edge addresses are served by the backend edge");
  if (!features.localRoutedVip && ports.some(({ nodePort }) => nodePort !== 0)) {
    limits.push("node ports need HNS 9.2");
  }
  return limits;
}
