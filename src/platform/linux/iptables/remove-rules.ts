import { CoreError } from "../../../core/errors.ts";
import { FAMILIES } from "../../../core/model/address.ts";
import type { Exec } from "../exec.ts";
import { createIptablesTool, IPTABLES_MODES, type IptablesTool } from "./iptables-tool.ts";
import { parseSave, type SavedChains } from "./parse-save.ts";
import type { RestoreScript } from "./restore-script.ts";

/** What has to be executed so that nothing is left of something, and everything else is. */
export type PlanRemoval = (actual: SavedChains) => RestoreScript;

/**
 * Removes what is planned from both families and both implementations: an earlier run may have used
 * the other one. Succeeds where there is nothing.
 */
export async function removeRules(exec: Exec, plan: PlanRemoval): Promise<void> {
  for (const mode of IPTABLES_MODES) {
    for (const family of FAMILIES) await removeFrom(createIptablesTool(family, mode, exec), plan);
  }
}

async function removeFrom(tool: IptablesTool, plan: PlanRemoval): Promise<void> {
  const text = await tool.save().catch(nothingWithoutTools);
  const script = plan(parseSave(text));
  if (!script.isEmpty) await tool.restore(script.render(tool.mode));
}

/** What there are no tools for holds nothing of ours. */
function nothingWithoutTools(error: unknown): string {
  if (error instanceof CoreError && error.code === "ERR_NOT_POSSIBLE_HERE") return "";
  throw error;
}
