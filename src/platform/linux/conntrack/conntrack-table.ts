import { NETLINK_NETFILTER } from "../../../wire/netlink/conntrack/conntrack-words.ts";
import {
  type FlowFilter,
  writeDelete,
  writeDump,
} from "../../../wire/netlink/conntrack/encode-requests.ts";
import type { Flow } from "../../../wire/netlink/conntrack/flow.ts";
import { FlowDecoder, type WantsFlow } from "../../../wire/netlink/conntrack/flow-decoder.ts";
import { ERRNO } from "../../errno.ts";
import { NetlinkSocket, requestError } from "../netlink/netlink-socket.ts";

/** More than that many deletes do not go into one datagram: their errors must fit the buffer. */
const BATCH = 256;

/** The flows that the kernel tracks. */
export interface ConntrackTable {
  /** Calls `take` for each flow that the filter lets through and that is wanted. */
  list(filter: FlowFilter, wants: WantsFlow, take: (flow: Flow) => void): Promise<void>;
  /** How many of them were still there. */
  remove(flows: readonly Flow[]): Promise<number>;
  close(): void;
}

/** The table of the network namespace that this thread is in. @throws CoreError ERR_SYSTEM_CALL */
export function openConntrackTable(): ConntrackTable {
  const socket = new NetlinkSocket(NETLINK_NETFILTER);
  return {
    list: async (filter, wants, take) => {
      const decoder = new FlowDecoder(wants);
      const { failures } = await socket.exchange({
        count: 1,
        write: (writer, sequence) => writeDump(writer, sequence, filter),
        onMessage: (view, from, to) => {
          const flow = decoder.decode(view, from, to);
          if (flow !== undefined) take(flow);
        },
      });
      for (const failure of failures) throw requestError("listing tracked flows", failure);
    },
    remove: async (flows) => {
      let removed = 0;
      for (let at = 0; at < flows.length; at += BATCH) {
        removed += await removeBatch(socket, flows.slice(at, at + BATCH));
      }
      return removed;
    },
    close: () => socket.close(),
  };
}

/** A flow that is gone already is as wanted. Where answers were lost, it is asked again by halves. */
async function removeBatch(socket: NetlinkSocket, flows: readonly Flow[]): Promise<number> {
  const { failures, isOverrun } = await socket.exchange({
    count: flows.length,
    write: (writer, first) => {
      flows.forEach((flow, index) => {
        writeDelete(writer, first + index, flow, index === flows.length - 1);
      });
    },
  });
  if (isOverrun && flows.length > 1) {
    const middle = flows.length >> 1;
    const first = await removeBatch(socket, flows.slice(0, middle));
    return first + (await removeBatch(socket, flows.slice(middle)));
  }
  const refused = failures.find(({ errno }) => errno !== ERRNO.ENOENT);
  if (refused !== undefined) throw requestError("removing a tracked flow", refused);
  return flows.length - failures.length;
}
