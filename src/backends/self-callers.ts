import type { ServiceEndpoints } from "../core/sinks/fullstate.ts";

/**
 * Addresses of endpoints that may call themselves through this node: those that run on it, and those of
 * which nobody said where they run.
 */
export function selfCallers({ endpoints }: ServiceEndpoints): ReadonlySet<string> {
  const addresses = new Set<string>();
  for (const { local, endpoint } of endpoints) {
    if (!local && endpoint.node !== "") continue;
    for (const ip of endpoint.addresses) addresses.add(ip);
  }
  return addresses;
}
