import type { Family } from "../../core/model/address.ts";
import { tableOf } from "../../platform/linux/iptables/chain-id.ts";
import type { NftTables } from "../../platform/linux/nft/nft-tables.ts";
import type { TableFamily } from "../../wire/netlink/nftables/table-families.ts";
import { isDormant } from "../../wire/netlink/nftables/table-messages.ts";
import type { ChangeWatch } from "./change-watch.ts";
import { JUMPS } from "./plan/jumps.ts";

const TABLE_FAMILIES: Readonly<Record<Family, TableFamily>> = { v4: "ip", v6: "ip6" };
const OWN_TABLES: ReadonlySet<string> = new Set([...JUMPS.keys()].map(tableOf));

/**
 * Wakes tables of iptables-nft that others made dormant: whatever rules stand there, no packet meets them, and
 * the tools neither tell nor change it.
 * @returns what was done, in words
 * @throws CoreError ERR_SYSTEM_CALL
 */
export async function wakeOwnTables(
  family: Family,
  nftTables: NftTables,
  watch: ChangeWatch,
): Promise<readonly string[]> {
  const nftFamily = TABLE_FAMILIES[family];
  const tables = (await nftTables.list()).filter(
    (table) => isDormant(table) && table.family === nftFamily && OWN_TABLES.has(table.name),
  );
  if (tables.length === 0) return [];
  await watch.ours(
    () => 1,
    () => nftTables.wake(tables),
  );
  return tables.map(({ name }) => `table ${nftFamily} ${name} was dormant`);
}
