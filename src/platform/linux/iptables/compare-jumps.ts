import { type ChainId, chainId, isHook, nameOf, tableOf } from "./chain-id.ts";
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

/**
 * Chains of ours that rules in others' own chains lead to: they may be emptied, but not deleted, which
 * the kernel would refuse together with all else.
 */
export function ledToByOthers(
  actual: SavedChains,
  isOwned: (chain: ChainId) => boolean,
): ReadonlySet<ChainId> {
  const led = new Set<ChainId>();
  for (const [chain, rules] of actual) {
    if (isOwned(chain) || isHook(chain)) continue;
    for (const rule of rules) {
      const target = targetOf(chain, rule);
      if (target !== undefined && isOwned(target)) led.add(target);
    }
  }
  return led;
}

/** The rules of a chain that lead into such a chain. */
function jumpsIn(
  chain: ChainId,
  actual: SavedChains,
  isMeant: (chain: ChainId) => boolean,
): readonly string[] {
  return (actual.get(chain) ?? []).filter((rule) => {
    const target = targetOf(chain, rule);
    return target !== undefined && isMeant(target);
  });
}

function targetOf(chain: ChainId, rule: string): ChainId | undefined {
  // A comment is free text, and may name chains.
  const target = /(?:^| )-[jg] (\S+)/.exec(bareText(rule))?.[1];
  return target === undefined ? undefined : chainId(tableOf(chain), target);
}
