import { removeGuard, removeJumps } from "./jumps.ts";
import { type ChainId, isOwnedChain } from "./owned-chains.ts";
import type { SavedChains } from "./parse-save.ts";
import { RestoreScript } from "./restore-script.ts";

/**
 * What has to be executed so that nothing of ours is left, and everything else is.
 * @param isGoing which chains go; default: ours
 */
export function planRemoval(
  actual: SavedChains,
  isGoing: (chain: ChainId) => boolean = isOwnedChain,
): RestoreScript {
  const script = new RestoreScript();
  removeJumps(actual, isGoing, script);
  removeGuard(actual, script);
  for (const chain of actual.keys()) if (isGoing(chain)) script.deleteChain(chain);
  return script;
}
