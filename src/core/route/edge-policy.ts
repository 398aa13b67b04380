import type { EdgeAddress } from "../model/service.ts";
import { type Eligible, keepOnly } from "./eligible.ts";
import type { Notes } from "./notes.ts";
import type { Observed } from "./observed.ts";
import type { RouteNode } from "./route-node.ts";

/** Leaves the instances that an edge address means. */
export function keepEdgeInstances(
  eligible: readonly Eligible[],
  edge: EdgeAddress,
  node: RouteNode,
  observed: Observed,
  notes: Notes,
): readonly Eligible[] {
  switch (edge.policy) {
    case "round-robin":
      notes.because("edge policy round-robin: all instances");
      return eligible;
    case "instance":
      notes.because(`edge policy instance: only instance ${edge.instance}`);
      return keepOnly(
        eligible,
        ({ endpoint }) => endpoint.instance === edge.instance,
        notes,
        `the address means instance ${edge.instance} only`,
      );
    case "closest":
      return keepClosest(eligible, node, observed, notes);
  }
}

/**
 * By round-trip time where one is known for any of the instances (this node's own is 0), else those
 * in the zone, else all.
 */
function keepClosest(
  eligible: readonly Eligible[],
  node: RouteNode,
  observed: Observed,
  notes: Notes,
): readonly Eligible[] {
  const roundTripOf = ({ endpoint }: Eligible): number =>
    endpoint.node === node.name ? 0 : (observed.roundTripMs?.get(endpoint.node) ?? Infinity);
  const shortest = Math.min(...eligible.map(roundTripOf));
  if (shortest < Infinity) {
    notes.because(`edge policy closest: the instances at ${shortest} ms`);
    const reason = `an instance at ${shortest} ms is closer`;
    return keepOnly(eligible, (one) => roundTripOf(one) === shortest, notes, reason);
  }
  const inZone = ({ endpoint }: Eligible): boolean =>
    node.zone !== "" && endpoint.zone === node.zone;
  if (eligible.some(inZone)) {
    notes.because(`edge policy closest: the instances in zone ${node.zone}`);
    return keepOnly(eligible, inZone, notes, `an instance in zone ${node.zone} is closer`);
  }
  notes.because("edge policy closest: no distance is known, so all instances");
  return eligible;
}
