import type { Family } from "../../../core/model/address.ts";
import { type Exec, execChecked } from "../exec.ts";
import { commandOf, type IptablesMode, WAIT_FOR_LOCK } from "./iptables-tool.ts";

/** A chain that the kernel leads packets to; its table may be one that has nothing of ours. */
export interface HookChain {
  readonly family: Family;
  readonly mode: IptablesMode;
  readonly table: string;
  readonly name: string;
}

/**
 * The rules of one chain, without its name. Asked for a table that is not there, the legacy tools make it.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE where there is no such program, ERR_PROGRAM_FAILED
 */
export async function listHookRules(
  { family, mode, table, name }: HookChain,
  exec: Exec,
): Promise<readonly string[]> {
  const args = [...WAIT_FOR_LOCK, "-t", table, "-S", name];
  const { stdout } = await execChecked(exec, commandOf(family, mode), args);
  const lead = `-A ${name}`;
  // One that neither asks nor does anything, but counts, is its name alone.
  return stdout
    .split("\n")
    .filter((line) => line === lead || line.startsWith(`${lead} `))
    .map((line) => line.slice(lead.length + 1));
}
