import { type ChainId, chainId, TABLES, type TableName } from "./chain-id.ts";

/** What a kernel holds: the rules of every chain, without the chain's name. */
export type SavedChains = ReadonlyMap<ChainId, readonly string[]>;

const APPEND = "-A ";

/** Reads what `iptables-save` prints. Tables that hold nothing of ours are passed over. */
export function parseSave(text: string): SavedChains {
  const chains = new Map<ChainId, string[]>();
  let table: TableName | undefined;
  for (const line of text.split("\n")) {
    if (line.startsWith("*")) table = TABLES.find((name) => name === line.slice(1));
    else if (table === undefined) continue;
    else if (line.startsWith(":")) {
      chains.set(chainId(table, line.slice(1, line.indexOf(" "))), []);
    } else if (line.startsWith(APPEND)) {
      const end = line.indexOf(" ", APPEND.length);
      const name = line.slice(APPEND.length, end < 0 ? undefined : end);
      chains.get(chainId(table, name))?.push(end < 0 ? "" : line.slice(end + 1));
    }
  }
  return chains;
}
