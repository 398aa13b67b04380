import type { ChainId } from "../../../platform/linux/iptables/chain-id.ts";
import { removeJumps } from "../../../platform/linux/iptables/compare-jumps.ts";
import type { SavedChains } from "../../../platform/linux/iptables/parse-save.ts";
import { ledToByOthers, removeChains } from "../../../platform/linux/iptables/remove-chains.ts";
import { RestoreScript } from "../../../platform/linux/iptables/restore-script.ts";
import { isOwnedChain } from "../../kube-chains.ts";
import { isKubeJump } from "../../kube-jumps.ts";
import { removeGuard } from "./loopback-guard.ts";

/**
 * What has to be executed so that nothing of ours is left, and everything else is. A chain that rules of
 * others lead to, as CNI plugins do to KUBE-MARK-MASQ, stays without rules.
 * @param isGoing which chains go; default: ours
 */
export function planRemoval(
  actual: SavedChains,
  isGoing: (chain: ChainId) => boolean = isOwnedChain,
): RestoreScript {
  const script = new RestoreScript();
  removeJumps(actual, isGoing, isKubeJump, script);
  removeGuard(actual, script);
  const led = ledToByOthers(actual, isGoing, isKubeJump);
  removeChains([...actual.keys()].filter(isGoing), led, actual, script);
  return script;
}
