import { NLM_F_REQUEST } from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import {
  NFNL_MSG_BATCH_BEGIN,
  NFNL_MSG_BATCH_END,
  NFNL_SUBSYS_NFTABLES,
} from "./nftables-words.ts";

/** struct nfgenmsg of what brackets a batch: no family, no version, and whose it is, in network byte order. */
const BATCH_HEADER: readonly number[] = [0, 0, 0, NFNL_SUBSYS_NFTABLES];

/**
 * Writes messages as one transaction, which takes effect as a whole or not at all. They are numbered from
 * `first` on, and the last one is to want an acknowledgement. What brackets them has the number of the last
 * one: an answer to the bracket, which is about the whole, is then the last answer too.
 */
export function writeBatch<T>(
  writer: NetlinkWriter,
  first: number,
  items: readonly T[],
  write: (item: T, sequence: number, wantsAck: boolean) => void,
): void {
  const last = first + items.length - 1;
  writeBracket(writer, NFNL_MSG_BATCH_BEGIN, last);
  for (const [index, item] of items.entries()) write(item, first + index, first + index === last);
  writeBracket(writer, NFNL_MSG_BATCH_END, last);
}

function writeBracket(writer: NetlinkWriter, type: number, sequence: number): void {
  writer.message({ type, flags: NLM_F_REQUEST, sequence }, () => writer.header(BATCH_HEADER));
}
