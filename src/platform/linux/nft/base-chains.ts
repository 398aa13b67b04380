import {
  type BaseChain,
  parseBaseChain,
  writeChainDump,
} from "../../../wire/netlink/nftables/chain-dump.ts";
import { isDormant } from "../../../wire/netlink/nftables/table-messages.ts";
import { listNft, type NftList } from "./list-nft.ts";
import { listNftTables } from "./nft-tables.ts";

export const BASE_CHAINS: NftList<BaseChain> = {
  what: "chains",
  write: writeChainDump,
  parse: parseBaseChain,
};

/**
 * The chains that packets come to by themselves, of all tables of the network namespace that this thread is in
 * that are not dormant.
 * @throws CoreError ERR_SYSTEM_CALL
 */
export async function listBaseChains(): Promise<readonly BaseChain[]> {
  // Begun together: after the first answer the thread may be in another namespace.
  const [chains, tables] = await Promise.all([listNft(BASE_CHAINS), listNftTables()]);
  const dormant = new Set(tables.filter(isDormant).map(({ family, name }) => `${family} ${name}`));
  return chains.filter(({ family, table }) => !dormant.has(`${family} ${table}`));
}
