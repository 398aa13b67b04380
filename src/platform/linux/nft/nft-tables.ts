import { NETLINK_NETFILTER } from "../../../wire/netlink/conntrack/conntrack-words.ts";
import {
  parseTable,
  type TableState,
  writeTableDump,
  writeWaking,
} from "../../../wire/netlink/nftables/table-messages.ts";
import { refuseOverrun } from "../netlink/exchange-batches.ts";
import { NetlinkSocket, requestError } from "../netlink/netlink-socket.ts";
import { listNft } from "./list-nft.ts";

/**
 * The tables of a network namespace, over netlink: the tools of iptables do not tell whether theirs are dormant,
 * and the JSON of nft 1.0.6 holds something else in place of flags.
 */
export interface NftTables {
  /** @throws CoreError ERR_SYSTEM_CALL */
  list(): Promise<readonly TableState[]>;
  /** Wakes tables that are dormant, at least one, in one transaction. @throws CoreError ERR_SYSTEM_CALL */
  wake(tables: readonly TableState[]): Promise<void>;
}

/** In the network namespace that the thread is in at each call. */
export const NFT_TABLES: NftTables = { list: listNftTables, wake: wakeTables };

export function listNftTables(): Promise<readonly TableState[]> {
  return listNft({ what: "tables", write: writeTableDump, parse: parseTable });
}

async function wakeTables(tables: readonly TableState[]): Promise<void> {
  const socket = new NetlinkSocket(NETLINK_NETFILTER);
  try {
    const answer = await socket.exchange({
      count: tables.length,
      write: (writer, first) => writeWaking(writer, first, tables),
    });
    refuseOverrun(answer);
    for (const failure of answer.failures) {
      const table = tables[failure.index];
      const what = table === undefined ? "tables" : `table ${table.family} ${table.name}`;
      throw requestError(`waking the dormant ${what}`, failure);
    }
  } finally {
    socket.close();
  }
}
