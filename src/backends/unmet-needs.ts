import type { ScenarioNeeds } from "../core/route/scenarios/scenario.ts";
import type { Capabilities } from "./capabilities.ts";

const AFFINITY_LEVEL = { none: 0, sticky: 1, "with-timeout": 2 } as const;

const FLAGS = ["sourceRanges", "internalLocal", "externalLocal", "weights", "keepsSource"] as const;

/** The needs that are not met, as `field: what is needed`; empty where all are. */
export function unmetNeeds(capabilities: Capabilities, needs: ScenarioNeeds): readonly string[] {
  const unmet: string[] = [];
  if (!capabilities.addressTypes.includes(needs.addressType)) {
    unmet.push(`addressTypes: ${needs.addressType}`);
  }
  if (!capabilities.protocols.includes(needs.protocol)) unmet.push(`protocols: ${needs.protocol}`);
  if (!capabilities.families.includes(needs.family)) unmet.push(`families: ${needs.family}`);
  const affinity = needs.affinity ?? "none";
  if (AFFINITY_LEVEL[capabilities.affinity] < AFFINITY_LEVEL[affinity]) {
    unmet.push(`affinity: ${affinity}`);
  }
  for (const flag of FLAGS) {
    if (needs[flag] === true && !capabilities[flag]) unmet.push(`${flag}: true`);
  }
  return unmet;
}
