import { type ChainId, isHook } from "../../../platform/linux/iptables/chain-id.ts";
import { ledToByOthers, removeJumps } from "../../../platform/linux/iptables/compare-jumps.ts";
import type { SavedChains } from "../../../platform/linux/iptables/parse-save.ts";
import { RestoreScript } from "../../../platform/linux/iptables/restore-script.ts";
import { isOwnedChain } from "../../kube-chains.ts";
import { removeGuard } from "./jumps.ts";

/**
 * What has to be executed so that nothing of ours is left, and everything else is. A chain that others'
 * own chains lead to, as CNI plugins do to KUBE-MARK-MASQ, stays without rules.
 * @param isGoing which chains go; default: ours
 */
export function planRemoval(
  actual: SavedChains,
  isGoing: (chain: ChainId) => boolean = isOwnedChain,
): RestoreScript {
  const script = new RestoreScript();
  removeJumps(new Map([...actual].filter(([chain]) => isHook(chain))), isGoing, script);
  removeGuard(actual, script);
  const led = ledToByOthers(actual, isGoing);
  for (const [chain, rules] of actual) {
    if (!isGoing(chain)) continue;
    if (!led.has(chain)) script.deleteChain(chain);
    else if (rules.length > 0) script.write(chain, "");
  }
  return script;
}
