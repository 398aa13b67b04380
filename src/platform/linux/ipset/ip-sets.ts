import { NETLINK_NETFILTER } from "../../../wire/netlink/conntrack/conntrack-words.ts";
import { parseEntries } from "../../../wire/netlink/ipset/decode-ipset.ts";
import {
  type IpSetChange,
  writeIpSetChange,
  writeIpSetDump,
} from "../../../wire/netlink/ipset/encode-ipset.ts";
import { entryText, type IpSetEntry } from "../../../wire/netlink/ipset/ip-set.ts";
import { ERRNO } from "../../errno.ts";
import { exchangeBatches, type RefusedChange, refuseOverrun } from "../netlink/exchange-batches.ts";
import { NetlinkSocket, requestError } from "../netlink/netlink-socket.ts";

/** The sets of a network namespace. */
export interface IpSets {
  /** Undefined where there is no such set, or the kernel has no sets at all. */
  entries(name: string): Promise<readonly IpSetEntry[] | undefined>;
  /** What is refused is told; all else is done. */
  change(changes: readonly IpSetChange[]): Promise<readonly RefusedChange[]>;
  close(): void;
}

/** Of the network namespace that this thread is in. @throws CoreError ERR_SYSTEM_CALL */
export function openIpSets(): IpSets {
  const socket = new NetlinkSocket(NETLINK_NETFILTER);
  return {
    entries: async (name) => {
      const entries: IpSetEntry[] = [];
      const answer = await socket.exchange({
        count: 1,
        write: (writer, sequence) => writeIpSetDump(writer, sequence, name),
        onMessage: (view, from, to) => parseEntries(view, from, to, (entry) => entries.push(entry)),
      });
      refuseOverrun(answer);
      const [failure] = answer.failures;
      if (failure?.errno === ERRNO.ENOENT || failure?.errno === ERRNO.EINVAL) return undefined;
      if (failure !== undefined) throw requestError(`listing the set ${name}`, failure);
      return entries;
    },
    change: (items) =>
      exchangeBatches(socket, {
        items,
        write: (writer, sequence, item, isLast) => writeIpSetChange(writer, sequence, item, isLast),
        wordsFor: describeSetChange,
      }),
    close: () => socket.close(),
  };
}

/** As the line of `ipset` that says the same. */
function describeSetChange(change: IpSetChange): string {
  const { kind, set } = change;
  if (!("entry" in change)) return `${kind} of the set ${set.name}`;
  return `${kind} ${set.name} ${entryText(change.entry)}`;
}
