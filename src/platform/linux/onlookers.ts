import { CoreError, messageOf } from "../../core/errors.ts";
import { FAMILIES, type Family } from "../../core/model/address.ts";
import type { BaseChain } from "../../wire/netlink/nftables/chain-dump.ts";
import type { TableFamily } from "../../wire/netlink/nftables/table-families.ts";
import type { Exec } from "./exec.ts";
import { type HookChain, listHookRules } from "./iptables/hook-rules.ts";
import { commandOf } from "./iptables/iptables-tool.ts";

/** Which rules are not of others. */
export interface OwnRules {
  /** Of nftables. */
  isOwnTable(table: Pick<BaseChain, "family" | "table">): boolean;
  /** Of iptables. @param rule as the tools print it, without the chain */
  isOwnRule(hook: Pick<HookChain, "table" | "name">, rule: string): boolean;
}

export interface OnlookersWorld {
  readonly exec: Exec;
  listBaseChains(): Promise<readonly BaseChain[]>;
  /** The tables that the legacy tools made: without a look at them none is made. */
  legacyTables(family: Family): readonly string[];
}

/**
 * NF_INET_ of linux/netfilter.h: PRE_ROUTING, FORWARD, POST_ROUTING, and INGRESS, which family `inet` alone has of
 * those.
 */
const PASSED_HOOKS: ReadonlySet<number> = new Set([0, 2, 4, 5]);
/** Those that are asked about first packets only. */
const FIRST_PACKETS = "nat";
/** Tables of iptables whose rules every packet meets, and the hooks of each that forwarded ones come by. */
const IPTABLES_TABLES: ReadonlyMap<string, readonly string[]> = new Map([
  ["raw", ["PREROUTING"]],
  ["mangle", ["PREROUTING", "FORWARD", "POSTROUTING"]],
  ["filter", ["FORWARD"]],
  ["security", ["FORWARD"]],
]);
const IP_FAMILIES: ReadonlyMap<TableFamily, Family> = new Map([
  ["ip", "v4"],
  ["ip6", "v6"],
]);

/**
 * Looks for rules of others that every forwarded packet meets: they may count, limit or log packets, and would miss
 * those that pass without the rules.
 * @returns the first of them, in words, or undefined where there are none
 * @throws CoreError ERR_SYSTEM_CALL, ERR_PROGRAM_FAILED where a tool does not tell whose rules there are
 */
export async function findOnlooker(
  own: OwnRules,
  world: OnlookersWorld,
): Promise<string | undefined> {
  for (const chain of await world.listBaseChains()) {
    if (!isMetByPassing(chain) || own.isOwnTable(chain)) continue;
    const hook = iptablesHook(chain);
    if (hook === undefined) return wordsFor(`${chain.family} ${chain.table}`, chain.name);
    if (await hasRulesOfOthers(hook, own, world.exec)) return wordsOf(hook);
  }
  for (const hook of legacyHooks(world)) {
    if (await hasRulesOfOthers(hook, own, world.exec)) return wordsOf(hook);
  }
  return undefined;
}

function isMetByPassing({ family, type, hook, ruleCount }: BaseChain): boolean {
  if (ruleCount === 0 || type === FIRST_PACKETS) return false;
  if (family === "netdev") return true;
  return family !== "arp" && family !== "bridge" && PASSED_HOOKS.has(hook);
}

/** Where the chain is one of those that iptables-nft makes. */
function iptablesHook({ family, table, name }: BaseChain): HookChain | undefined {
  const ipFamily = IP_FAMILIES.get(family);
  if (ipFamily === undefined || IPTABLES_TABLES.get(table)?.includes(name) !== true) {
    return undefined;
  }
  return { family: ipFamily, mode: "nft", table, name };
}

function legacyHooks(world: OnlookersWorld): readonly HookChain[] {
  return FAMILIES.flatMap((family) =>
    world.legacyTables(family).flatMap((table) => {
      const names = IPTABLES_TABLES.get(table) ?? [];
      return names.map((name) => ({ family, mode: "legacy", table, name }) as const);
    }),
  );
}

async function hasRulesOfOthers(hook: HookChain, own: OwnRules, exec: Exec): Promise<boolean> {
  const rules = await listHookRules(hook, exec).catch((cause: unknown) => {
    const what = `the rules of ${placeOf(hook)} could not be read: ${messageOf(cause)}`;
    throw new CoreError("ERR_PROGRAM_FAILED", what, { cause });
  });
  return rules.some((rule) => !own.isOwnRule(hook, rule));
}

function wordsOf(hook: HookChain): string {
  return `rules of others in ${placeOf(hook)}`;
}

function placeOf({ family, mode, table, name }: HookChain): string {
  return `chain ${name} of table ${table} (${commandOf(family, mode)})`;
}

function wordsFor(table: string, chain: string): string {
  return `rules of others in chain ${chain} of table ${table}`;
}
