import { valueKey } from "./pattern.ts";
import type { LiveContainer, LiveElement } from "./ruleset.ts";

/** @param elements undefined for those that were not understood */
export function createContainer(
  id: string,
  elements: readonly (LiveElement | undefined)[],
): LiveContainer {
  const exact = new Map<string, LiveElement>();
  const others: LiveElement[] = [];
  for (const element of elements) {
    if (element === undefined) continue;
    const { pattern } = element;
    if (pattern.kind === "value") exact.set(valueKey(pattern.value), element);
    else others.push(element);
  }
  return { id, exact, others, isComplete: !elements.includes(undefined) };
}
