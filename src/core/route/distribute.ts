import type { Endpoint } from "../model/endpoint.ts";
import type { ServiceGroup } from "../store/state.ts";
import type { Eligible } from "./eligible.ts";

/** An endpoint with its share of the connections. */
export interface Share {
  readonly endpoint: Endpoint;
  readonly targetPort: number;
  readonly probability: number;
}

/**
 * By the weights of the groups among those that are left, and within a group by the weights of its
 * endpoints. An endpoint of several groups has the sum of its shares.
 */
export function distribute(eligible: readonly Eligible[]): readonly Share[] {
  const weightIn = new Map<ServiceGroup, number>();
  for (const { group, endpoint } of eligible) {
    weightIn.set(group, (weightIn.get(group) ?? 0) + endpoint.weight);
  }
  let weightOfAll = 0;
  for (const group of weightIn.keys()) weightOfAll += group.ref.weight;

  const shares = new Map<Endpoint, Share>();
  for (const { group, endpoint, targetPort } of eligible) {
    const ofGroup = group.ref.weight / weightOfAll;
    const within = endpoint.weight / (weightIn.get(group) ?? endpoint.weight);
    const before = shares.get(endpoint)?.probability ?? 0;
    shares.set(endpoint, { endpoint, targetPort, probability: before + ofGroup * within });
  }
  return [...shares.values()];
}
