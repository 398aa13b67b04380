import type { Packet } from "../../../core/route/packet.ts";
import type { LiveFacts } from "./live-packet.ts";
import { type Choose, eachPath } from "./paths.ts";
import type { LiveRuleset } from "./ruleset.ts";
import { type LiveOutcome, walkRuleset } from "./walk-ruleset.ts";

const MAX_WAYS = 200_000;
const TOO_MUCH = "more is not known than can be tried";

/**
 * What is not known and would lead a packet to where it should not go, if it were otherwise than
 * `walkRuleset` takes it; empty where it can not matter. All combinations are tried.
 * @param mostWays so many are followed, however much is not known
 */
export function findDoubts(
  rules: LiveRuleset,
  packet: Packet,
  facts: LiveFacts,
  isRight: (outcomes: readonly LiveOutcome[]) => boolean,
  mostWays: number = MAX_WAYS,
): readonly string[] {
  const doubts = new Set<string>();
  let ways = 0;
  for (const { result } of eachPath((choose) => imagine(rules, packet, facts, choose))) {
    const { outcomes, supposed } = result;
    ways += outcomes.length;
    if (ways > mostWays) return [...doubts, TOO_MUCH];
    const isNamed = supposed.some((what) => doubts.has(what));
    if (isNamed || isRight(outcomes)) continue;
    for (const what of supposed) doubts.add(what);
  }
  return [...doubts];
}

interface Imagined {
  readonly outcomes: readonly LiveOutcome[];
  /** What was supposed to be otherwise. */
  readonly supposed: readonly string[];
}

function imagine(rules: LiveRuleset, packet: Packet, facts: LiveFacts, choose: Choose): Imagined {
  const decisions = new Map<object, boolean>();
  const supposed: string[] = [];
  const outcomes = walkRuleset(rules, packet, facts, (subject, what) => {
    const before = decisions.get(subject);
    if (before !== undefined) return before;
    const isOtherwise = choose([1, 0]) === 1;
    decisions.set(subject, isOtherwise);
    if (isOtherwise) supposed.push(what);
    return isOtherwise;
  });
  return { outcomes, supposed };
}
