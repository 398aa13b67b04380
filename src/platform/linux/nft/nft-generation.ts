import { AttributeCursor } from "../../../wire/netlink/attribute-cursor.ts";
import { NETLINK_NETFILTER } from "../../../wire/netlink/conntrack/conntrack-words.ts";
import { NLM_F_ACK, NLM_F_REQUEST } from "../../../wire/netlink/netlink-words.ts";
import { NetlinkSocket, requestError } from "../netlink/netlink-socket.ts";

/** linux/netfilter/nfnetlink.h and nf_tables.h: the subsystem in the high byte, then the message. */
const NFT_MSG_GETGEN = 0x0a10;
const NFTA_GEN_ID = 1;
/** struct nfgenmsg: family, version, resource id. */
const NFGENMSG: readonly number[] = [0, 0, 0, 0];

/** Tells which generation of rules a network namespace has: each transaction, of anyone, makes the next. */
export interface NftGeneration {
  /** @throws CoreError ERR_SYSTEM_CALL */
  read(): Promise<number>;
  close(): void;
}

/** Of the network namespace that this thread is in. @throws CoreError ERR_SYSTEM_CALL */
export function openNftGeneration(): NftGeneration {
  const socket = new NetlinkSocket(NETLINK_NETFILTER);
  return {
    read: async () => {
      let generation = 0;
      const cursor = new AttributeCursor();
      const { failures } = await socket.exchange({
        count: 1,
        write: (writer, sequence) => {
          const flags = NLM_F_REQUEST | NLM_F_ACK;
          writer.message({ type: NFT_MSG_GETGEN, flags, sequence }, () => writer.header(NFGENMSG));
        },
        onMessage: (view, from, to) => {
          cursor.enter(view, from + NFGENMSG.length, to);
          while (cursor.next()) if (cursor.type === NFTA_GEN_ID) generation = cursor.be32();
        },
      });
      for (const failure of failures) throw requestError("asking for the generation", failure);
      return generation;
    },
    close: () => socket.close(),
  };
}
