import type { Family } from "../../../core/model/address.ts";
import { NFPROTO_IPV4, NFPROTO_IPV6 } from "../conntrack/conntrack-words.ts";
import { NLM_F_ACK, NLM_F_CREATE, NLM_F_REQUEST } from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import { writeBatch } from "./batch.ts";
import type { EncodedElements } from "./element-encoder.ts";
import {
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

/** Writes messages as one transaction, numbered from `first` on; the last one wants an acknowledgement. */
export function writeElementBatch(
  writer: NetlinkWriter,
  first: number,
  messages: readonly ElementMessage[],
): void {
  writeBatch(writer, first, messages, (message, sequence, wantsAck) => {
    writeElements(writer, sequence, message, wantsAck);
  });
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
