import type { Target } from "./frontend.ts";

/**
 * Puts targets into slots without gaps, with as little change as can be: who stays keeps its slots,
 * but for those beyond the new end.
 */
export function assignSlots(
  before: readonly Target[],
  wanted: ReadonlyMap<Target, number>,
): readonly Target[] {
  const left = new Map(wanted);
  let count = 0;
  for (const slots of wanted.values()) count += slots;
  const assigned: Target[] = [];
  for (const target of before.slice(0, count)) assigned.push(take(left, target) ? target : FREE);
  const others = takeInTurns(left);
  for (let slot = 0; slot < count; slot += 1) {
    if ((assigned[slot] ?? FREE) === FREE) assigned[slot] = others.next().value ?? FREE;
  }
  return assigned;
}

/** No target is written like that. */
const FREE: Target = "";

function take(left: Map<Target, number>, target: Target): boolean {
  const slots = left.get(target) ?? 0;
  if (slots > 0) left.set(target, slots - 1);
  return slots > 0;
}

/** One slot of each, then the next of each: turns come evenly. */
function* takeInTurns(left: Map<Target, number>): Generator<Target, undefined> {
  for (let isLeft = true; isLeft; ) {
    isLeft = false;
    for (const target of left.keys()) {
      if (!take(left, target)) continue;
      isLeft = true;
      yield target;
    }
  }
  return undefined;
}
