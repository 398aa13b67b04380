import type { Endpoint } from "../model/endpoint.ts";
import { keyOf } from "../model/object.ts";
import type { ServiceGroup, ServiceState } from "../store/state.ts";
import type { Notes } from "./notes.ts";
import type { Observed } from "./observed.ts";

/** An endpoint that can still be chosen, through one group of its service. */
export interface Eligible {
  readonly group: ServiceGroup;
  readonly endpoint: Endpoint;
  readonly targetPort: number;
}

/** Those of a list that take new connections: healthy, and with a weight to share by. */
export function eligibleIn(
  state: ServiceState,
  list: ReadonlyMap<Endpoint, number>,
  observed: Observed,
  notes: Notes,
): readonly Eligible[] {
  const eligible: Eligible[] = [];
  for (const group of state.groups) {
    for (const endpoint of group.state.endpoints) {
      const targetPort = list.get(endpoint);
      if (targetPort === undefined) continue;
      const obstacle = obstacleOf(group, endpoint, observed);
      if (obstacle === undefined) eligible.push({ group, endpoint, targetPort });
      else notes.exclude(endpoint, obstacle);
    }
  }
  return eligible;
}

function obstacleOf(
  group: ServiceGroup,
  endpoint: Endpoint,
  observed: Observed,
): string | undefined {
  if (observed.health?.get(keyOf(endpoint)) === false) return "it fails its health checks";
  if (endpoint.weight === 0) return "its weight is 0: it drains";
  if (group.ref.weight === 0) return `the weight of its group ${group.state.key} is 0: it drains`;
  return undefined;
}

/** Leaves those that stay, and notes the same reason for all others. */
export function keepOnly(
  eligible: readonly Eligible[],
  stays: (one: Eligible) => boolean,
  notes: Notes,
  reason: string,
): readonly Eligible[] {
  const kept: Eligible[] = [];
  for (const one of eligible) {
    if (stays(one)) kept.push(one);
    else notes.exclude(one.endpoint, reason);
  }
  return kept;
}
