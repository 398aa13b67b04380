import { isOwnGuid } from "../../platform/windows/guid.ts";
import type { Hcn } from "../../platform/windows/hcn.ts";

/** Removes every load balancer that Portolan ever made. */
export async function removeOwnLoadBalancers(hcn: Hcn): Promise<void> {
  for (const id of await hcn.loadBalancerIds()) {
    if (isOwnGuid(id)) await hcn.deleteLoadBalancer(id);
  }
}

/** Removes everything that Portolan ever made, on all networks. */
export async function removeOwnObjects(hcn: Hcn): Promise<void> {
  await removeOwnLoadBalancers(hcn);
  for (const id of await hcn.endpointIds()) if (isOwnGuid(id)) await hcn.deleteEndpoint(id);
}
