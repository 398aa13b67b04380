import type { LiveInstance } from "./live-instance.ts";

/**
 * The next one in turn, each as often as its weight says, and spread as evenly as can be: every turn
 * gives each its weight, the one that is owed most is taken, and pays for all. Undefined where there
 * is none with a weight.
 */
export function pickInTurn(
  instances: readonly LiveInstance[],
  policy: keyof LiveInstance["credits"],
): LiveInstance | undefined {
  let total = 0;
  let best: LiveInstance | undefined;
  for (const instance of instances) {
    if (instance.weight === 0) continue;
    total += instance.weight;
    instance.credits[policy] += instance.weight;
    if (best === undefined || instance.credits[policy] > best.credits[policy]) best = instance;
  }
  if (best !== undefined) best.credits[policy] -= total;
  return best;
}

/**
 * One of those on the node that is nearest by its round-trip time; in turn where several are as near.
 * Nodes whose time is not known are the farthest.
 */
export function pickClosest(
  instances: readonly LiveInstance[],
  roundTripMs: (node: string) => number | undefined,
): LiveInstance | undefined {
  let nearest: LiveInstance[] = [];
  let nearestMs = Number.POSITIVE_INFINITY;
  for (const instance of instances) {
    if (instance.weight === 0) continue;
    const ms = roundTripMs(instance.node) ?? Number.POSITIVE_INFINITY;
    if (ms < nearestMs) {
      nearest = [instance];
      nearestMs = ms;
    } else if (ms === nearestMs) nearest.push(instance);
  }
  return pickInTurn(nearest, "closest");
}
