import { type ChainId, isHook, nameOf } from "./chain-id.ts";
import type { SavedChains } from "./parse-save.ts";
import type { RestoreScript } from "./restore-script.ts";
import { bareRule, renderRule } from "./rule.ts";
import { targetOf } from "./target-of.ts";

/** Where packets come into chains of ours, by the hook, in this order. */
export type Jumps = ReadonlyMap<ChainId, readonly string[]>;

/** Whether a rule at a hook is a jump of ours, of whichever version; all others there are of others. */
export type IsJump = (hook: ChainId, rule: string) => boolean;

export function jump(to: ChainId, comment: string, matches: readonly string[] = []): string {
  return renderRule({ comment, matches, target: nameOf(to) });
}

/** Puts the jumps in front where any is missing or out of order; others' rules stay as they are. */
export function compareJumps(
  actual: SavedChains,
  jumps: Jumps,
  isJump: IsJump,
  script: RestoreScript,
): void {
  for (const [hook, wanted] of jumps) {
    const ours = (actual.get(hook) ?? []).filter((rule) => isJump(hook, rule));
    const isRight =
      ours.length === wanted.length &&
      ours.every((rule, index) => bareRule(rule) === bareRule(wanted[index] ?? ""));
    if (isRight) continue;
    for (const rule of ours) script.remove(hook, rule);
    script.insert(hook, wanted);
  }
}

/** Takes all jumps of ours into such chains away, also those of other versions. */
export function removeJumps(
  actual: SavedChains,
  isGoing: (chain: ChainId) => boolean,
  isJump: IsJump,
  script: RestoreScript,
): void {
  for (const [hook, rules] of actual) {
    if (!isHook(hook)) continue;
    for (const rule of rules) {
      const target = targetOf(hook, rule);
      if (target !== undefined && isGoing(target) && isJump(hook, rule)) script.remove(hook, rule);
    }
  }
}
