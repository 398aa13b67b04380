import { endText, percent } from "./compare-verdict.ts";
import type { TraceEntry } from "./rule-walker.ts";
import type { LiveRuleset } from "./ruleset.ts";
import type { LiveOutcome } from "./walk-ruleset.ts";

/** More ends than these are summed up. */
const MAX_SHOWN = 16;

/** The rules and elements that a packet meets, and where it comes to; what all ways share stands once. */
export function describeOutcomes(outcomes: readonly LiveOutcome[]): readonly string[] {
  const ways = distinctWays(outcomes);
  const traces = ways.map(({ trace }) => trace);
  const first = traces[0] ?? [];
  const before = sharedBeginning(traces);
  const rests = traces.map((trace) => trace.slice(before).reverse());
  const after = ways.length === 1 ? 0 : sharedBeginning(rests);
  const lines = first.slice(0, before).flatMap(entryLines);
  for (const { end, probability, trace } of ways.slice(0, MAX_SHOWN)) {
    lines.push(`${percent(probability)}: ${endText(end)}`);
    const own = trace.slice(before, trace.length - after);
    lines.push(...own.flatMap(entryLines).map(indent));
  }
  if (ways.length > MAX_SHOWN) lines.push(`and ${ways.length - MAX_SHOWN} more`);
  if (after > 0) {
    lines.push("then, whichever way");
    lines.push(...first.slice(-after).flatMap(entryLines).map(indent));
  }
  const unknown = new Set(outcomes.flatMap((outcome) => outcome.unknown));
  for (const what of unknown) lines.push(`not known: ${what}`);
  return lines;
}

/** What the packet passes without meeting its rules. */
export function describeDormant({ dormantTables = [] }: LiveRuleset): readonly string[] {
  return dormantTables.map((table) => `table ${table} is dormant: no packet meets its rules`);
}

/** Ways that meet the same rules and come to the same end are one. */
function distinctWays(outcomes: readonly LiveOutcome[]): readonly LiveOutcome[] {
  const ways = new Map<string, LiveOutcome>();
  for (const outcome of outcomes) {
    const key = JSON.stringify([outcome.end, outcome.trace]);
    const before = ways.get(key);
    const probability = outcome.probability + (before?.probability ?? 0);
    ways.set(key, { ...outcome, probability });
  }
  return [...ways.values()].sort((a, b) => b.probability - a.probability);
}

function sharedBeginning(traces: readonly (readonly TraceEntry[])[]): number {
  const [first = [], ...others] = traces;
  const differs = first.findIndex((entry, index) => {
    const text = JSON.stringify(entry);
    return others.some((trace) => JSON.stringify(trace[index]) !== text);
  });
  return differs < 0 ? first.length : differs;
}

function entryLines({ chain, rule, elements }: TraceEntry): readonly string[] {
  return [`${chain}: ${rule}`, ...elements.map(indent)];
}

function indent(line: string): string {
  return `  ${line}`;
}
