import type { Family } from "../../../core/model/address.ts";
import { NETLINK_NETFILTER } from "../../../wire/netlink/conntrack/conntrack-words.ts";
import { writeDump } from "../../../wire/netlink/conntrack/encode-requests.ts";
import type { FlowTuple } from "../../../wire/netlink/conntrack/flow.ts";
import type { TcpFlow, TcpFlowChange } from "../../../wire/netlink/conntrack/tcp-flow.ts";
import {
  parseTcpFlow,
  writeTcpChange,
  writeTcpQuestion,
} from "../../../wire/netlink/conntrack/tcp-flow-codec.ts";
import { HEADER_BYTES, SEQUENCE_AT } from "../../../wire/netlink/netlink-words.ts";
import type { NetlinkWriter } from "../../../wire/netlink/netlink-writer.ts";
import { ERRNO } from "../../errno.ts";
import { refuseOverrun } from "../netlink/exchange-batches.ts";
import { NetlinkSocket, requestError } from "../netlink/netlink-socket.ts";

/**
 * More than that many do not go into one datagram: their answers must fit the buffer, in which each
 * takes some 800 bytes.
 */
const BATCH = 256;

/** Of a flow that ended before it was asked about, or meanwhile. */
const GONE: ReadonlySet<number> = new Set([ERRNO.ENOENT, ERRNO.ETIME]);

/** The TCP connections that the kernel tracks, to be asked for and changed one by one. */
export interface TcpFlowTable {
  /** In the order of the tuples; undefined where the kernel tracks no such flow. */
  ask(tuples: readonly FlowTuple[]): Promise<readonly (TcpFlow | undefined)[]>;
  /** How many of them were still there. */
  change(changes: readonly TcpFlowChange[]): Promise<number>;
  /** Calls `take` for each tracked TCP flow of a family. */
  list(family: Family, take: (flow: TcpFlow) => void): Promise<void>;
  close(): void;
}

/** The table of the network namespace that this thread is in. @throws CoreError ERR_SYSTEM_CALL */
export function openTcpFlowTable(): TcpFlowTable {
  const socket = new NetlinkSocket(NETLINK_NETFILTER);
  return {
    ask: async (tuples) => {
      const flows: (TcpFlow | undefined)[] = tuples.map(() => undefined);
      await exchangeAll(socket, {
        items: tuples,
        what: "asking for a tracked flow",
        write: writeTcpQuestion,
        take: (index, flow) => {
          flows[index] = flow;
        },
      });
      return flows;
    },
    change: (changes) =>
      exchangeAll(socket, {
        items: changes,
        what: "changing a tracked flow",
        write: writeTcpChange,
        take: () => undefined,
      }),
    list: async (family, take) => {
      const { failures } = await socket.exchange({
        count: 1,
        write: (writer, sequence) => writeDump(writer, sequence, { family, protocol: "TCP" }),
        onMessage: (view, from, to) => {
          const flow = parseTcpFlow(view, from, to);
          if (flow !== undefined) take(flow);
        },
      });
      for (const failure of failures) throw requestError("listing tracked flows", failure);
    },
    close: () => socket.close(),
  };
}

interface Requests<T> {
  /** About one flow each. */
  readonly items: readonly T[];
  /** What is asked, for people. */
  readonly what: string;
  write(writer: NetlinkWriter, sequence: number, item: T, wantsAck: boolean): void;
  take(index: number, flow: TcpFlow | undefined): void;
}

/** How many of the flows were there. Where answers were lost, it is asked again by halves. */
async function exchangeAll<T>(
  socket: NetlinkSocket,
  requests: Requests<T>,
  begin = 0,
  end: number = requests.items.length,
): Promise<number> {
  const part = requests.items.slice(begin, end);
  if (part.length === 0) return 0;
  const byHalves = async (): Promise<number> => {
    const middle = (begin + end) >> 1;
    const found = await exchangeAll(socket, requests, begin, middle);
    return found + (await exchangeAll(socket, requests, middle, end));
  };
  if (part.length > BATCH) return byHalves();
  let firstSequence = 0;
  const answer = await socket.exchange({
    count: part.length,
    write: (writer, first) => {
      firstSequence = first;
      part.forEach((item, index) => {
        requests.write(writer, first + index, item, index === part.length - 1);
      });
    },
    onMessage: (view, from, to) => {
      const index = sequenceOf(view, from) - firstSequence;
      requests.take(begin + index, parseTcpFlow(view, from, to));
    },
  });
  if (answer.isOverrun && part.length > 1) return byHalves();
  refuseOverrun(answer);
  const refused = answer.failures.find(({ errno }) => !GONE.has(errno));
  if (refused !== undefined) throw requestError(requests.what, refused);
  return part.length - answer.failures.length;
}

/** Of the request that a message answers: in the header, which ends where the message begins. */
function sequenceOf(view: DataView, from: number): number {
  return view.getUint32(from - HEADER_BYTES + SEQUENCE_AT, true);
}
