import { CoreError } from "../../../core/errors.ts";
import { NETLINK_NETFILTER } from "../../../wire/netlink/conntrack/conntrack-words.ts";
import {
  type BaseChain,
  parseBaseChain,
  writeChainDump,
} from "../../../wire/netlink/nftables/chain-dump.ts";
import { type DumpSocket, dumpAll } from "../netlink/dump-all.ts";
import { NetlinkSocket } from "../netlink/netlink-socket.ts";

type ChainSocket = DumpSocket & Pick<NetlinkSocket, "close">;

const openSocket = (): ChainSocket => new NetlinkSocket(NETLINK_NETFILTER);

/**
 * The chains that packets come to by themselves, of all tables of the network namespace that this thread is in.
 * @throws CoreError ERR_SYSTEM_CALL
 */
export async function listBaseChains(
  open: () => ChainSocket = openSocket,
): Promise<readonly BaseChain[]> {
  const socket = open();
  try {
    const chains = await dumpAll(socket, "listing chains", writeChainDump, parseBaseChain);
    if (chains.isWhole) return chains.items.filter((chain) => chain !== undefined);
    throw new CoreError("ERR_SYSTEM_CALL", "listing chains: others change rules all the time");
  } finally {
    socket.close();
  }
}
