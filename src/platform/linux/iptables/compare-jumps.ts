import { type ChainId, chainId, nameOf, tableOf } from "./chain-id.ts";
import type { SavedChains } from "./parse-save.ts";
import type { RestoreScript } from "./restore-script.ts";
import { bareRule, bareText, renderRule } from "./rule.ts";

/** Where packets come into chains of ours, by the hook, in this order. */
export type Jumps = ReadonlyMap<ChainId, readonly string[]>;

export function jump(to: ChainId, comment: string, matches: readonly string[] = []): string {
  return renderRule({ comment, matches, target: nameOf(to) });
}

/** Puts the jumps in front where any is missing or out of order; others' rules stay as they are. */
export function compareJumps(
  actual: SavedChains,
  jumps: Jumps,
  isOwned: (chain: ChainId) => boolean,
  script: RestoreScript,
): void {
  for (const [hook, wanted] of jumps) {
    const ours = jumpsIn(hook, actual, isOwned);
    const isRight =
      ours.length === wanted.length &&
      ours.every((rule, index) => bareRule(rule) === bareRule(wanted[index] ?? ""));
    if (isRight) continue;
    for (const rule of ours) script.remove(hook, rule);
    script.insert(hook, wanted);
  }
}

/** Takes all jumps from others' chains into such chains away, also those of other versions. */
export function removeJumps(
  actual: SavedChains,
  isGoing: (chain: ChainId) => boolean,
  script: RestoreScript,
): void {
  for (const chain of actual.keys()) {
    if (isGoing(chain)) continue;
    for (const rule of jumpsIn(chain, actual, isGoing)) script.remove(chain, rule);
  }
}

/** The rules of a chain that lead into such a chain. */
function jumpsIn(
  chain: ChainId,
  actual: SavedChains,
  isMeant: (chain: ChainId) => boolean,
): readonly string[] {
  return (actual.get(chain) ?? []).filter((rule) => {
    // A comment is free text, and may name chains.
    const target = /(?:^| )-[jg] (\S+)/.exec(bareText(rule))?.[1];
    return target !== undefined && isMeant(chainId(tableOf(chain), target));
  });
}
