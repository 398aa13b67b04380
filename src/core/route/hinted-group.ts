import { NO_HINTS, type RouteHints } from "../model/route-hints.ts";
import type { ServiceGroup } from "../store/state.ts";
import { type Eligible, keepOnly } from "./eligible.ts";
import type { Notes } from "./notes.ts";
import type { RequestHint } from "./packet.ts";
import { type HintScore, isBetterScore, scoreHints } from "./request-hints.ts";

export interface HintedCall {
  readonly hint: RequestHint | undefined;
  readonly groups: readonly ServiceGroup[];
  /** Whether groups without any endpoint that is eligible are passed over. */
  readonly fallsBack: boolean;
}

/**
 * Leaves the endpoints of the group that suits the request best: the first with the highest score, of
 * those groups that have any where the call falls back, and else of all that do not drain. All stay
 * where the request says nothing or no group suits it.
 */
export function keepHintedGroup(
  eligible: readonly Eligible[],
  { hint, groups, fallsBack }: HintedCall,
  notes: Notes,
): readonly Eligible[] {
  if (hint === undefined) return eligible;
  const suitable = fallsBack
    ? eligible.map(({ group }) => group)
    : groups.filter(({ ref }) => ref.weight > 0);
  let best: { group: ServiceGroup; score: HintScore } | undefined;
  for (const group of suitable) {
    const score = scoreHints(hintsOf(group), hint);
    if (score === undefined) continue;
    if (best === undefined || isBetterScore(score, best.score)) best = { group, score };
  }
  if (best === undefined) {
    notes.because("no group suits what the request says: groups by their weight");
    return eligible;
  }
  const { group } = best;
  const { key } = group.state;
  notes.because(`group ${key} suits best what the request says`);
  const reason = `group ${key} suits the request better`;
  return keepOnly(eligible, (one) => one.group === group, notes, reason);
}

/** The hints of the attachment win over the group's own. */
function hintsOf({ ref, state }: ServiceGroup): RouteHints {
  const { host, path, port } = ref.hints;
  const saysNothing = host === "" && path === "" && port === 0;
  return saysNothing ? (state.group?.hints ?? NO_HINTS) : ref.hints;
}
