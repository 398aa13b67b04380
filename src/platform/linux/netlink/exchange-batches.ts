import { CoreError } from "../../../core/errors.ts";
import type { NetlinkWriter } from "../../../wire/netlink/netlink-writer.ts";
import { type NetlinkAnswer, type NetlinkSocket, requestError } from "./netlink-socket.ts";

/** More than that many do not go into one datagram: their errors must fit the buffer. */
const BATCH = 256;

/** A request of several that the kernel refused; the others were done. */
export interface RefusedChange {
  readonly index: number;
  readonly errno: number;
  readonly error: CoreError;
}

export interface Batches<T> {
  readonly items: readonly T[];
  write(writer: NetlinkWriter, sequence: number, item: T, isLast: boolean): void;
  /** What was asked, for people. */
  wordsFor(item: T): string;
}

/**
 * Sends many requests in few datagrams. One that is refused does not hold up the others.
 * @throws CoreError ERR_SYSTEM_CALL where it is not known what was done
 */
export async function exchangeBatches<T>(
  socket: NetlinkSocket,
  { items, write, wordsFor }: Batches<T>,
): Promise<readonly RefusedChange[]> {
  const refused: RefusedChange[] = [];
  for (let at = 0; at < items.length; at += BATCH) {
    const part = items.slice(at, at + BATCH);
    const answer = await socket.exchange({
      count: part.length,
      write: (writer, first) => {
        part.forEach((item, index) => {
          write(writer, first + index, item, index === part.length - 1);
        });
      },
    });
    refuseOverrun(answer);
    for (const failure of answer.failures) {
      const item = part[failure.index];
      const what = item === undefined ? "a netlink request" : wordsFor(item);
      const error = requestError(what, failure);
      refused.push({ index: at + failure.index, errno: failure.errno, error });
    }
  }
  return refused;
}

/** @throws CoreError ERR_SYSTEM_CALL */
export function refuseOverrun({ isOverrun }: NetlinkAnswer): void {
  if (!isOverrun) return;
  throw new CoreError("ERR_SYSTEM_CALL", "the kernel's answer to a netlink request was lost");
}
