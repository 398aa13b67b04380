import type { Family } from "../../../core/model/address.ts";
import { type Exec, execChecked } from "../exec.ts";
import type { TableName } from "./chain-id.ts";

/** Two implementations of the same commands, which do not see each other's rules. */
export type IptablesMode = "nft" | "legacy";

export const IPTABLES_MODES: readonly IptablesMode[] = ["nft", "legacy"];

/** The commands of one implementation for one family. */
export interface IptablesTool {
  readonly family: Family;
  readonly mode: IptablesMode;
  /** All rules of all tables, or of one, as `iptables-save` prints them. */
  save(table?: TableName): Promise<string>;
  /**
   * Executes a script; each of its tables is changed as a whole or not at all. Pieces are asked for as the
   * tool reads them.
   */
  readonly restore: (script: string | Iterable<string>) => Promise<void>;
}

const COMMANDS: Readonly<Record<Family, string>> = { v4: "iptables", v6: "ip6tables" };
/** Tens of thousands of chains take the tools a minute and more. */
const TIMEOUT_MS = 900_000;
const MAX_OUTPUT_BYTES = 1024 * 1024 * 1024;
/** How long to wait for other programs that change rules, which the legacy tools shut out. */
const LOCK_WAIT_SECONDS = 30;
/** As commands take it. */
export const WAIT_FOR_LOCK: readonly string[] = ["-w", String(LOCK_WAIT_SECONDS)];

/** `ip6tables-legacy`. */
export function commandOf(family: Family, mode: IptablesMode): string {
  return `${COMMANDS[family]}-${mode}`;
}

/** What is executed to change rules: `iptables-nft-restore`, with its arguments. */
export function restoreCommand(family: Family, mode: IptablesMode): readonly [string, ...string[]] {
  return [`${commandOf(family, mode)}-restore`, ...WAIT_FOR_LOCK, "--noflush"];
}

export function createIptablesTool(family: Family, mode: IptablesMode, exec: Exec): IptablesTool {
  const [restoreProgram, ...restoreArgs] = restoreCommand(family, mode);
  const limits = { timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT_BYTES };
  return {
    family,
    mode,
    save: async (table) => {
      const args = table === undefined ? [] : ["-t", table];
      const program = `${commandOf(family, mode)}-save`;
      const { stdout } = await execChecked(exec, program, args, limits);
      return stdout;
    },
    restore: async (stdin) => {
      await execChecked(exec, restoreProgram, restoreArgs, { stdin, ...limits });
    },
  };
}

/** A transaction that changes nothing. */
const NO_CHANGE = "*nat\nCOMMIT\n";

/**
 * Lets the tools and the kernel look at a change without making it. The legacy tools make the table
 * that they are asked for, without rules.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE where there is no such program, ERR_PROGRAM_FAILED where rules
 *   can not be changed
 */
export async function tryRestore(family: Family, mode: IptablesMode, exec: Exec): Promise<void> {
  const [program, ...args] = restoreCommand(family, mode);
  await execChecked(exec, program, [...args, "--test"], { stdin: NO_CHANGE });
}

/**
 * The same, but nothing is made: of the legacy tools only whether they are there is told.
 * @throws as `tryRestore`
 */
export async function tryTool(family: Family, mode: IptablesMode, exec: Exec): Promise<void> {
  if (mode === "nft") return tryRestore(family, mode, exec);
  const [program] = restoreCommand(family, mode);
  await execChecked(exec, program, ["--version"]);
}
