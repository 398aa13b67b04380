import type { Family } from "../../../../core/model/address.ts";
import type { HookName, LiveChain, LiveHook, LiveRule } from "../ruleset.ts";
import { parseRule } from "./parse-rule.ts";

const HOOKS: Readonly<Record<string, HookName>> = {
  PREROUTING: "prerouting",
  INPUT: "input",
  FORWARD: "forward",
  OUTPUT: "output",
  POSTROUTING: "postrouting",
};

/** Fixed in the kernel: linux/netfilter_ipv4.h. */
const PRIORITIES: Readonly<Record<string, number>> = {
  raw: -300,
  mangle: -150,
  filter: 0,
  security: 50,
};
const DESTINATION_NAT_PRIORITY = -100;
const SOURCE_NAT_PRIORITY = 100;

/** What one of the `iptables-save` programs printed. */
export interface SavedRules {
  readonly family: Family;
  /** What chains are told apart by, where several programs have the same: `iptables`. */
  readonly tool: string;
  readonly text: string;
  /** Tables whose chains are left out; none by default. */
  readonly isLeftOut?: (table: string) => boolean;
}

export interface SavedTables {
  /** The tables that the program has: `nat`. */
  readonly tables: ReadonlySet<string>;
  readonly chains: ReadonlyMap<string, LiveChain>;
}

interface ChainParts {
  readonly hook: LiveHook | undefined;
  readonly rules: LiveRule[];
}

const TABLE = /^\*(\S+)/;
const CHAIN = /^:(\S+) (\S+)/;
const RULE = /^-A (\S+) (.*)$/;

export function parseIptablesSave({ family, tool, text, isLeftOut }: SavedRules): SavedTables {
  const tables = new Set<string>();
  const chains = new Map<string, ChainParts>();
  let table = "";
  const idOf = (name: string): string => `${tool} ${table} ${name}`;
  for (const line of text.split("\n")) {
    const [, opened] = TABLE.exec(line) ?? [];
    if (opened !== undefined) {
      table = opened;
      tables.add(table);
    }
    const [, chain, policy] = CHAIN.exec(line) ?? [];
    if (chain !== undefined && isLeftOut?.(table) !== true) {
      chains.set(idOf(chain), { hook: hookOf(table, chain, policy), rules: [] });
    }
    const [, owner, rule] = RULE.exec(line) ?? [];
    if (owner === undefined || rule === undefined) continue;
    const chainOf = (name: string) => (chains.has(idOf(name)) ? idOf(name) : undefined);
    chains.get(idOf(owner))?.rules.push({ text: rule, steps: parseRule(rule, chainOf) });
  }
  const families = [family];
  const named = [...chains].map(([id, parts]): [string, LiveChain] => [
    id,
    { id, families, ...parts },
  ]);
  return { tables, chains: new Map(named) };
}

function hookOf(table: string, chain: string, policy: string | undefined): LiveHook | undefined {
  const name = HOOKS[chain];
  if (name === undefined) return undefined;
  const isDestination = name === "prerouting" || name === "output";
  const natPriority = isDestination ? DESTINATION_NAT_PRIORITY : SOURCE_NAT_PRIORITY;
  return {
    name,
    priority: table === "nat" ? natPriority : (PRIORITIES[table] ?? 0),
    isNat: table === "nat",
    policy: policy === "DROP" ? "drop" : "accept",
  };
}
