import { CoreError } from "../../../core/errors.ts";
import type { Family } from "../../../core/model/address.ts";
import { type Exec, type ExecResult, failedProgram } from "../exec.ts";
import { parseIptablesSave, type SavedTables } from "./iptables/parse-iptables-save.ts";
import { parseNftRuleset } from "./nft/parse-nft-ruleset.ts";
import { parseRuleTexts } from "./nft/rule-texts.ts";
import type { LiveChain, LiveRuleset } from "./ruleset.ts";

/** The variants of iptables: both may have rules at once, and packets pass all of them. */
const SAVE_PROGRAMS: readonly {
  readonly program: string;
  readonly family: Family;
  /** What nft calls the tables of this one; undefined where nft does not see them. */
  readonly nftFamily: string | undefined;
}[] = [
  { program: "iptables-nft", family: "v4", nftFamily: "ip" },
  { program: "ip6tables-nft", family: "v6", nftFamily: "ip6" },
  { program: "iptables-legacy", family: "v4", nftFamily: undefined },
  { program: "ip6tables-legacy", family: "v6", nftFamily: undefined },
];

const EMPTY_RULESET: LiveRuleset = { chains: new Map(), containers: new Map() };

/**
 * All rules of this network namespace at this moment, whoever made them.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE where there is no program that reads them
 */
export async function readLiveRules(exec: Exec): Promise<LiveRuleset> {
  const chains = new Map<string, LiveChain>();
  const iptablesTables = new Set<string>();
  let programs = 0;
  for (const { program, family, nftFamily } of SAVE_PROGRAMS) {
    const saved = await readSaved(exec, program, family);
    if (saved === undefined) continue;
    programs += 1;
    for (const [id, chain] of saved.chains) chains.set(id, chain);
    if (nftFamily === undefined) continue;
    for (const table of saved.tables) iptablesTables.add(`${nftFamily} ${table}`);
  }
  const nft = await readNft(exec, (family, table) => !iptablesTables.has(`${family} ${table}`));
  if (nft === undefined && programs === 0) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      "reading the kernel's rules: neither nft nor iptables-save is there; install nftables or iptables",
    );
  }
  const { chains: nftChains, containers } = nft ?? EMPTY_RULESET;
  return { chains: new Map([...nftChains, ...chains]), containers };
}

async function readNft(
  exec: Exec,
  isOurs: (family: string, table: string) => boolean,
): Promise<LiveRuleset | undefined> {
  const listing = await runIfThere(exec, "nft", ["-j", "list", "ruleset"]);
  if (listing === undefined) return undefined;
  const texts = await runIfThere(exec, "nft", ["-a", "-t", "list", "ruleset"]);
  const json: unknown = JSON.parse(listing);
  return parseNftRuleset(json, parseRuleTexts(texts ?? ""), isOurs);
}

async function readSaved(
  exec: Exec,
  tool: string,
  family: Family,
): Promise<SavedTables | undefined> {
  const text = await runIfThere(exec, `${tool}-save`, []);
  return text === undefined ? undefined : parseIptablesSave({ family, tool, text });
}

/** What a program printed; undefined where there is no such program. */
async function runIfThere(
  exec: Exec,
  program: string,
  args: readonly string[],
): Promise<string | undefined> {
  let result: ExecResult;
  try {
    result = await exec.run(program, args);
  } catch (error) {
    if (error instanceof CoreError && error.code === "ERR_NOT_POSSIBLE_HERE") return undefined;
    throw error;
  }
  if (result.exitCode !== 0) throw failedProgram(program, args, result);
  return result.stdout;
}
