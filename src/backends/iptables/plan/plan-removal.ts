import type { ChainId } from "../../../platform/linux/iptables/chain-id.ts";
import { removeJumps } from "../../../platform/linux/iptables/compare-jumps.ts";
import type { SavedChains } from "../../../platform/linux/iptables/parse-save.ts";
import { RestoreScript } from "../../../platform/linux/iptables/restore-script.ts";
import { isOwnedChain } from "../../kube-chains.ts";
import { removeGuard } from "./jumps.ts";

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
