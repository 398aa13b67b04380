import { CoreError } from "../../core/errors.ts";
import { FAMILIES } from "../../core/model/address.ts";
import type { Exec } from "../../platform/linux/exec.ts";
import { createIptablesTool, IPTABLES_MODES, type IptablesTool } from "./iptables-tool.ts";
import type { ChainId } from "./plan/owned-chains.ts";
import { parseSave } from "./plan/parse-save.ts";
import { planRemoval } from "./plan/plan-removal.ts";

/**
 * Removes chains, and the jumps to them, of both implementations: an earlier run may have used the
 * other one. Succeeds where there are none.
 * @param isGoing which chains go; default: ours
 */
export async function removeRules(
  exec: Exec,
  isGoing?: (chain: ChainId) => boolean,
): Promise<void> {
  for (const mode of IPTABLES_MODES) {
    for (const family of FAMILIES) {
      await removeFrom(createIptablesTool(family, mode, exec), isGoing);
    }
  }
}

async function removeFrom(
  tool: IptablesTool,
  isGoing: ((chain: ChainId) => boolean) | undefined,
): Promise<void> {
  const text = await tool.save().catch(nothingWithoutTools);
  const script = planRemoval(parseSave(text), isGoing);
  if (!script.isEmpty) await tool.restore(script.render());
}

/** What there are no tools for holds nothing of ours. */
function nothingWithoutTools(error: unknown): string {
  if (error instanceof CoreError && error.code === "ERR_NOT_POSSIBLE_HERE") return "";
  throw error;
}
