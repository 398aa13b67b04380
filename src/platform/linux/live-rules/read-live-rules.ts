import { CoreError } from "../../../core/errors.ts";
import type { Family } from "../../../core/model/address.ts";
import { isDormant, type TableState } from "../../../wire/netlink/nftables/table-messages.ts";
import { type Exec, type ExecResult, failedProgram } from "../exec.ts";
import { parseIptablesSave } from "./iptables/parse-iptables-save.ts";
import { asList, asObject } from "./nft/json.ts";
import { parseNftRuleset } from "./nft/parse-nft-ruleset.ts";
import { parseRuleTexts, type RuleTexts } from "./nft/rule-texts.ts";
import type { LiveWorld } from "./read-live-facts.ts";
import type { LiveChain, LiveRuleset } from "./ruleset.ts";

/** What is asked of the machine. */
export type RulesWorld = Pick<LiveWorld, "exec" | "listTables">;

interface SaveProgram {
  readonly program: string;
  readonly family: Family;
  /** What nft calls the tables of this one; undefined where nft does not see them. */
  readonly nftFamily: string | undefined;
}

interface SavedText extends SaveProgram {
  readonly text: string;
}

interface NftText {
  readonly json: unknown;
  readonly texts: RuleTexts;
}

/** The variants of iptables: both may have rules at once, and packets pass all of them. */
const SAVE_PROGRAMS: readonly SaveProgram[] = [
  { program: "iptables-nft", family: "v4", nftFamily: "ip" },
  { program: "ip6tables-nft", family: "v6", nftFamily: "ip6" },
  { program: "iptables-legacy", family: "v4", nftFamily: undefined },
  { program: "ip6tables-legacy", family: "v6", nftFamily: undefined },
];

const EMPTY_RULESET: LiveRuleset = { chains: new Map(), containers: new Map() };

/**
 * All rules of this network namespace that packets meet at this moment, whoever made them.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE where there is no program that reads them
 */
export async function readLiveRules({ exec, listTables }: RulesWorld): Promise<LiveRuleset> {
  const saves: SavedText[] = [];
  for (const program of SAVE_PROGRAMS) {
    const text = await runIfThere(exec, `${program.program}-save`, []);
    if (text !== undefined) saves.push({ ...program, text });
  }
  const text = await runIfThere(exec, "nft", ["-a", "-t", "list", "ruleset"]);
  if (text === undefined && saves.length === 0) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      "reading the kernel's rules: neither nft nor iptables-save is there; install nftables or iptables",
    );
  }
  // A kernel that only the legacy tools are for may have no nftables to ask.
  const knowsNft = text !== undefined || saves.some(({ nftFamily }) => nftFamily !== undefined);
  const tables = knowsNft ? await listTables() : [];
  const nft = text === undefined ? undefined : await readNft(exec, text, tables);
  const dormant = tables.filter(isDormant).map(({ family, name }) => `${family} ${name}`);
  return parseRules(saves, nft, tables, new Set(dormant));
}

function parseRules(
  saves: readonly SavedText[],
  nft: NftText | undefined,
  tables: readonly TableState[],
  dormant: ReadonlySet<string>,
): LiveRuleset {
  const chains = new Map<string, LiveChain>();
  const leftOut = new Set(dormant);
  for (const { program: tool, family, nftFamily, text } of saves) {
    const isLeftOut = (table: string): boolean => dormant.has(`${nftFamily} ${table}`);
    const saved = parseIptablesSave({ family, tool, text, isLeftOut });
    for (const [id, chain] of saved.chains) chains.set(id, chain);
    if (nftFamily === undefined) continue;
    for (const table of saved.tables) leftOut.add(`${nftFamily} ${table}`);
  }
  const { chains: nftChains, containers } =
    nft === undefined
      ? EMPTY_RULESET
      : parseNftRuleset(nft.json, nft.texts, (family, table) => !leftOut.has(`${family} ${table}`));
  return {
    chains: new Map([...nftChains, ...chains]),
    containers,
    dormantTables: [...dormant],
    unreadTables: nft === undefined ? unreadOf(tables, leftOut) : [],
  };
}

/** Without nft, those of iptables-nft alone are read. */
function unreadOf(tables: readonly TableState[], leftOut: ReadonlySet<string>): readonly string[] {
  return tables
    .filter(({ family }) => family !== "arp")
    .map(({ family, name }) => `${family} ${name}`)
    .filter((table) => !leftOut.has(table));
}

async function readNft(exec: Exec, text: string, tables: readonly TableState[]): Promise<NftText> {
  const items: unknown[] = [];
  for (const what of listingsOf(tables)) {
    const args = ["-j", "list", ...what];
    const json: unknown = JSON.parse((await runIfThere(exec, "nft", args)) ?? "{}");
    items.push(...asList(asObject(json)["nftables"]));
  }
  return { json: { nftables: items }, texts: parseRuleTexts(text) };
}

/** Where a table has flags, nft 1.0.6 prints memory that is not theirs, or nothing at all: such are not asked for. */
function listingsOf(tables: readonly TableState[]): readonly (readonly string[])[] {
  if (tables.every(({ flags }) => flags === 0)) return [["ruleset"]];
  const awake = tables.filter((table) => !isDormant(table));
  return awake.map(({ family, name }) => ["table", family, name]);
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
