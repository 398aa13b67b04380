import { CoreError } from "../../../core/errors.ts";
import { NETLINK_NETFILTER } from "../../../wire/netlink/conntrack/conntrack-words.ts";
import {
  type BaseChain,
  parseBaseChain,
  writeChainDump,
} from "../../../wire/netlink/nftables/chain-dump.ts";
import { isDormant } from "../../../wire/netlink/nftables/table-messages.ts";
import { dumpAll } from "../netlink/dump-all.ts";
import { NetlinkSocket } from "../netlink/netlink-socket.ts";
import { listNftTables } from "./nft-tables.ts";

/**
 * The chains that packets come to by themselves, of all tables of the network namespace that this thread is in
 * that are not dormant.
 * @throws CoreError ERR_SYSTEM_CALL
 */
export async function listBaseChains(): Promise<readonly BaseChain[]> {
  // Begun together: after the first answer the thread may be in another namespace.
  const [chains, tables] = await Promise.all([listAllBaseChains(), listNftTables()]);
  const dormant = new Set(tables.filter(isDormant).map(({ family, name }) => `${family} ${name}`));
  return chains.filter(({ family, table }) => !dormant.has(`${family} ${table}`));
}

async function listAllBaseChains(): Promise<readonly BaseChain[]> {
  const socket = new NetlinkSocket(NETLINK_NETFILTER);
  try {
    const chains = await dumpAll(socket, "listing chains", writeChainDump, parseBaseChain);
    if (chains.isWhole) return chains.items.filter((chain) => chain !== undefined);
    throw new CoreError("ERR_SYSTEM_CALL", "listing chains: others change rules all the time");
  } finally {
    socket.close();
  }
}
