/** The tables that hold chains of ours. */
export type TableName = "filter" | "nat" | "mangle";

/** A later table may rely on what an earlier one was told: refusals stand before what they refuse goes. */
export const TABLES: readonly TableName[] = ["mangle", "filter", "nat"];

/** `nat KUBE-SERVICES`: a chain of a table. */
export type ChainId = `${TableName} ${string}`;

export function tableOf(chain: ChainId): TableName {
  if (chain.startsWith("nat ")) return "nat";
  return chain.startsWith("filter ") ? "filter" : "mangle";
}

/** `KUBE-SERVICES`. */
export function nameOf(chain: ChainId): string {
  return chain.slice(chain.indexOf(" ") + 1);
}

export function chainId(table: TableName, name: string): ChainId {
  return `${table} ${name}`;
}

/** The rules of a chain as `iptables-save` prints them. */
export function chainText(chain: ChainId, rules: readonly string[]): string {
  if (rules.length === 0) return "";
  const lead = `-A ${nameOf(chain)} `;
  return lead + rules.join(`\n${lead}`);
}

const HOOKS: ReadonlySet<string> = new Set([
  "PREROUTING",
  "INPUT",
  "FORWARD",
  "OUTPUT",
  "POSTROUTING",
]);

/** Whether packets come to it by themselves: the kernel made it. */
export function isHook(chain: ChainId): boolean {
  return HOOKS.has(nameOf(chain));
}
