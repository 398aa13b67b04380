import { refuseOverrun } from "./exchange-batches.ts";
import { type NetlinkRequest, type NetlinkSocket, requestError } from "./netlink-socket.ts";

/** A dump that changes meanwhile is repeated so often at most. */
const MAX_DUMPS = 5;

/** What asks the kernel; tests give their own. */
export type DumpSocket = Pick<NetlinkSocket, "exchange">;

export interface Dump<T> {
  readonly items: readonly T[];
  /** Whether nothing changed while they were read: else some may be missing. */
  readonly isWhole: boolean;
}

/** Reads a list of the kernel. @throws CoreError ERR_SYSTEM_CALL */
export async function dumpAll<T>(
  socket: DumpSocket,
  what: string,
  write: NetlinkRequest["write"],
  parse: (view: DataView, from: number, to: number) => T,
): Promise<Dump<T>> {
  let items: T[] = [];
  for (let attempt = 0; attempt < MAX_DUMPS; attempt++) {
    items = [];
    const answer = await socket.exchange({
      count: 1,
      write,
      onMessage: (view, from, to) => void items.push(parse(view, from, to)),
    });
    refuseOverrun(answer);
    for (const failure of answer.failures) throw requestError(what, failure);
    if (!answer.isInterrupted) return { items, isWhole: true };
  }
  return { items, isWhole: false };
}
