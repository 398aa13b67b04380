import { isOwnGuid } from "../../platform/windows/guid.ts";
import type { Hcn } from "../../platform/windows/hcn.ts";
import { joinFailures } from "../join-failures.ts";

/** So many refusals stand in an error. */
const MAX_TOLD = 3;

/**
 * Removes every load balancer that Portolan ever made.
 * @throws CoreError ERR_SYNC_FAILED with what HNS refused; all others are gone then
 */
export async function removeOwnLoadBalancers(hcn: Hcn): Promise<void> {
  await removeAll(await hcn.loadBalancerIds(), (id) => hcn.deleteLoadBalancer(id));
}

/**
 * Removes everything that Portolan ever made, on all networks. Endpoints stay where a load balancer did.
 * @throws CoreError ERR_SYNC_FAILED
 */
export async function removeOwnObjects(hcn: Hcn): Promise<void> {
  await removeOwnLoadBalancers(hcn);
  await removeAll(await hcn.endpointIds(), (id) => hcn.deleteEndpoint(id));
}

async function removeAll(
  ids: readonly string[],
  remove: (id: string) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const id of ids) {
    if (isOwnGuid(id)) await remove(id).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw joinFailures("ERR_SYNC_FAILED", failures.slice(0, MAX_TOLD));
}
