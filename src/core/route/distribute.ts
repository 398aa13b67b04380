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
 * endpoints.
 */
export function distribute(eligible: readonly Eligible[]): readonly Share[] {
  const weightIn = new Map<ServiceGroup, number>();
  for (const { group, endpoint } of eligible) {
    weightIn.set(group, (weightIn.get(group) ?? 0) + endpoint.weight);
  }
  let weightOfAll = 0;
  for (const group of weightIn.keys()) weightOfAll += group.ref.weight;
  return eligible.map(({ group, endpoint, targetPort }) => {
    const ofGroup = group.ref.weight / weightOfAll;
    const within = endpoint.weight / (weightIn.get(group) ?? endpoint.weight);
    return { endpoint, targetPort, probability: ofGroup * within };
  });
}
