import { formatHostPort } from "../../../core/model/address.ts";
import type { Verdict } from "../../../core/route/verdict.ts";
import type { LiveEnd, LiveOutcome } from "./walk-ruleset.ts";

/** What one end is, for people and to be compared: `10.1.0.5:80 masqueraded`, `reject`. */
export function endText(end: LiveEnd): string {
  if (end.kind !== "endpoint") return end.kind;
  const { address, port, masquerade } = end;
  return `${formatHostPort(address, port)}${masquerade ? " masqueraded" : ""}`;
}

/** The ends that the ways come to, each with its share. */
export function sharesOf(outcomes: readonly LiveOutcome[]): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  for (const { end, probability } of outcomes) {
    const text = endText(end);
    shares.set(text, (shares.get(text) ?? 0) + probability);
  }
  return shares;
}

/** The same of what the reference says. */
function wantedShares(verdict: Verdict): ReadonlyMap<string, number> {
  switch (verdict.kind) {
    case "reject":
    case "drop":
      return new Map([[verdict.kind, 1]]);
    case "not-ours":
      return new Map([["untouched", 1]]);
    case "endpoints": {
      const shares = new Map<string, number>();
      for (const { address, targetPort: port, masquerade, probability } of verdict.candidates) {
        const text = endText({ kind: "endpoint", address, port, masquerade });
        shares.set(text, (shares.get(text) ?? 0) + probability);
      }
      return shares;
    }
  }
}

/** Shares may differ by so much: tools round probabilities. */
const TOLERANCE = 0.001;

/** In words, how the kernel's rules differ from the reference; empty where they do not. */
export function compareWithVerdict(
  outcomes: readonly LiveOutcome[],
  verdict: Verdict,
  tolerance: number = TOLERANCE,
): readonly string[] {
  const wanted = wantedShares(verdict);
  const shares = sharesOf(outcomes);
  const differences: string[] = [];
  for (const text of new Set([...wanted.keys(), ...shares.keys()])) {
    const [should, is] = [wanted.get(text) ?? 0, shares.get(text) ?? 0];
    if (Math.abs(should - is) <= tolerance) continue;
    differences.push(`${text}: ${percent(is)}, where the reference says ${percent(should)}`);
  }
  return differences;
}

export function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
