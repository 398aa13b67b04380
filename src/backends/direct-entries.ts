import { type Family, familyOf } from "../core/model/address.ts";
import type { ServiceEndpoints } from "../core/sinks/fullstate.ts";
import { type Outcome, type Place, portOutcomes, type Target } from "./port-targets.ts";

/** An address and port of a service, and where its callers may be sent at once. */
export interface DirectEntry {
  readonly place: Place;
  readonly targets: readonly Target[];
}

/** What a service has to do with an address and port: without an entry it is left to the rules. */
export interface DirectClaim {
  readonly place: Place;
  readonly entry: DirectEntry | undefined;
}

/**
 * Everything that a service answers on by TCP, with entries for those of its cluster IPs whose endpoints
 * are chosen at random. The rules know more: who was there before, who may call, and what refuses.
 */
export function directClaims(
  item: ServiceEndpoints,
  isRandom: boolean,
  families: readonly Family[],
): readonly DirectClaim[] {
  const { service } = item.service;
  const others = [...service.externalIPs, ...service.loadBalancerIPs];
  const claims: DirectClaim[] = [];
  for (const [index, { protocol, port }] of service.ports.entries()) {
    if (protocol !== "TCP") continue;
    for (const ip of others) claims.push({ place: { ip, port }, entry: undefined });
    for (const ip of service.clusterIPs) {
      const place = { ip, port };
      const hasChoice =
        isRandom && service.affinitySeconds === 0 && families.includes(familyOf(ip));
      const outcome = hasChoice ? internalOutcome(item, index, ip) : undefined;
      const targets = outcome?.kind === "targets" ? outcome.targets : undefined;
      claims.push({ place, entry: targets && { place, targets } });
    }
  }
  return claims;
}

function internalOutcome(item: ServiceEndpoints, portIndex: number, ip: string): Outcome {
  const outcomes = portOutcomes(item, portIndex, familyOf(ip));
  const isLocal = item.service.service.internalTrafficPolicy === "Local";
  return isLocal ? outcomes.local : outcomes.cluster;
}
