import { type ChainId, isHook } from "./chain-id.ts";
import type { IsJump } from "./compare-jumps.ts";
import type { SavedChains } from "./parse-save.ts";
import type { RestoreScript } from "./restore-script.ts";
import { targetOf } from "./target-of.ts";

/**
 * Chains of ours that rules of others lead to, at hooks or in chains of their own.
 * @param isJump which rules at hooks are ours, and go or lead to chains that stay
 */
export function ledToByOthers(
  actual: SavedChains,
  isOwned: (chain: ChainId) => boolean,
  isJump: IsJump,
): ReadonlySet<ChainId> {
  const led = new Set<ChainId>();
  for (const [chain, rules] of actual) {
    if (isOwned(chain)) continue;
    for (const rule of rules) {
      const target = targetOf(chain, rule);
      if (target === undefined || !isOwned(target)) continue;
      if (!isHook(chain) || !isJump(chain, rule)) led.add(target);
    }
  }
  return led;
}

/**
 * Deletes chains of ours. Those that others lead to are emptied in place of that: the kernel would
 * refuse to delete them, together with all else.
 */
export function removeChains(
  going: Iterable<ChainId>,
  led: ReadonlySet<ChainId>,
  actual: SavedChains,
  script: RestoreScript,
): void {
  for (const chain of going) {
    if (!led.has(chain)) script.deleteChain(chain);
    else if (actual.get(chain)?.length !== 0) script.empty(chain);
  }
}
