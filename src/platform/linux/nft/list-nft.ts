import { CoreError } from "../../../core/errors.ts";
import { NETLINK_NETFILTER } from "../../../wire/netlink/conntrack/conntrack-words.ts";
import { type DumpSocket, dumpAll } from "../netlink/dump-all.ts";
import { type NetlinkRequest, NetlinkSocket } from "../netlink/netlink-socket.ts";

type ListSocket = DumpSocket & Pick<NetlinkSocket, "close">;

const openSocket = (): ListSocket => new NetlinkSocket(NETLINK_NETFILTER);

export interface NftList<T> {
  /** `chains`. */
  readonly what: string;
  readonly write: NetlinkRequest["write"];
  /** Undefined of what does not count. */
  readonly parse: (view: DataView, from: number, to: number) => T | undefined;
}

/**
 * Lists objects of nf_tables in the network namespace that this thread is in when it is called.
 * @throws CoreError ERR_SYSTEM_CALL, also where some may be missing
 */
export async function listNft<T>(
  { what, write, parse }: NftList<T>,
  open: () => ListSocket = openSocket,
): Promise<readonly T[]> {
  const socket = open();
  try {
    const { items, isWhole } = await dumpAll(socket, `listing ${what}`, write, parse);
    if (isWhole) return items.filter((item) => item !== undefined);
    throw new CoreError("ERR_SYSTEM_CALL", `listing ${what}: others change rules all the time`);
  } finally {
    socket.close();
  }
}
