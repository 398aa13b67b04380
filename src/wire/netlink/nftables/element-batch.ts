import type { Family } from "../../../core/model/address.ts";
import { NFPROTO_IPV4, NFPROTO_IPV6 } from "../conntrack/conntrack-words.ts";
import { NLM_F_ACK, NLM_F_CREATE, NLM_F_REQUEST } from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import type { EncodedElements } from "./element-encoder.ts";
import {
  NFNL_MSG_BATCH_BEGIN,
  NFNL_MSG_BATCH_END,
  NFNL_SUBSYS_NFTABLES,
  NFT_MSG_DELSETELEM,
  NFT_MSG_NEWSETELEM,
  NFTA_SET_ELEM_LIST_ELEMENTS,
  NFTA_SET_ELEM_LIST_SET,
  NFTA_SET_ELEM_LIST_TABLE,
} from "./nftables-words.ts";

/** Elements that come into a set or map, or leave it. */
export interface ElementMessage {
  readonly verb: "add" | "delete";
  readonly family: Family;
  readonly table: string;
  readonly container: string;
  readonly elements: EncodedElements;
}

/** As messages of nftables name them. */
export const FAMILY_NUMBERS: Readonly<Record<Family, number>> = {
  v4: NFPROTO_IPV4,
  v6: NFPROTO_IPV6,
};
/** struct nfgenmsg of what brackets a batch: no family, no version, and whose it is, in network byte order. */
const BATCH_HEADER: readonly number[] = [0, 0, 0, NFNL_SUBSYS_NFTABLES];

/**
 * Writes messages as one transaction, which takes effect as a whole or not at all. They are numbered from
 * `first` on, and the last one wants an acknowledgement. What brackets them has the number of the last
 * one: an answer to the bracket, which is about the whole, is then the last answer too.
 */
export function writeElementBatch(
  writer: NetlinkWriter,
  first: number,
  messages: readonly ElementMessage[],
): void {
  const last = first + messages.length - 1;
  writeBracket(writer, NFNL_MSG_BATCH_BEGIN, last);
  for (const [index, message] of messages.entries()) {
    const sequence = first + index;
    writeElements(writer, sequence, message, sequence === last);
  }
  writeBracket(writer, NFNL_MSG_BATCH_END, last);
}

function writeBracket(writer: NetlinkWriter, type: number, sequence: number): void {
  writer.message({ type, flags: NLM_F_REQUEST, sequence }, () => writer.header(BATCH_HEADER));
}

function writeElements(
  writer: NetlinkWriter,
  sequence: number,
  { verb, family, table, container, elements }: ElementMessage,
  wantsAck: boolean,
): void {
  const type = verb === "add" ? NFT_MSG_NEWSETELEM : NFT_MSG_DELSETELEM;
  const flags = NLM_F_REQUEST | (verb === "add" ? NLM_F_CREATE : 0) | (wantsAck ? NLM_F_ACK : 0);
  writer.message({ type, flags, sequence }, () => {
    writer.header([FAMILY_NUMBERS[family], 0, 0, 0]);
    writer.text(NFTA_SET_ELEM_LIST_TABLE, table);
    writer.text(NFTA_SET_ELEM_LIST_SET, container);
    writer.nested(NFTA_SET_ELEM_LIST_ELEMENTS, () => writer.raw(elements.bytes));
  });
}
