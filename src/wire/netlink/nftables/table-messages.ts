import { AttributeCursor } from "../attribute-cursor.ts";
import { NFGENMSG_BYTES } from "../conntrack/conntrack-words.ts";
import { NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST } from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import { writeBatch } from "./batch.ts";
import {
  NFT_MSG_GETTABLE,
  NFT_MSG_NEWTABLE,
  NFT_TABLE_F_DORMANT,
  NFTA_TABLE_FLAGS,
  NFTA_TABLE_NAME,
} from "./nftables-words.ts";
import {
  ALL_TABLE_FAMILIES,
  TABLE_FAMILIES,
  TABLE_FAMILY_NUMBERS,
  type TableFamily,
} from "./table-families.ts";

/** A table of a network namespace, whatever tool made it. */
export interface TableState {
  readonly family: TableFamily;
  readonly name: string;
  /** NFT_TABLE_F_ of linux/netfilter/nf_tables.h. */
  readonly flags: number;
}

/** Whether the kernel leads no packet to its chains. */
export function isDormant({ flags }: TableState): boolean {
  return (flags & NFT_TABLE_F_DORMANT) !== 0;
}

/** Asks for all tables of a network namespace. */
export function writeTableDump(writer: NetlinkWriter, sequence: number): void {
  const flags = NLM_F_REQUEST | NLM_F_DUMP;
  writer.message({ type: NFT_MSG_GETTABLE, flags, sequence }, () => {
    writer.header([ALL_TABLE_FAMILIES, 0, 0, 0]);
  });
}

/** Reads the payload of one message. @returns undefined where nobody knows its family */
export function parseTable(view: DataView, from: number, to: number): TableState | undefined {
  const family = TABLE_FAMILIES.get(view.getUint8(from));
  if (family === undefined) return undefined;
  const found = { name: "", flags: 0 };
  const cursor = new AttributeCursor();
  cursor.enter(view, from + NFGENMSG_BYTES, to);
  while (cursor.next()) {
    if (cursor.type === NFTA_TABLE_NAME) found.name = cursor.text();
    else if (cursor.type === NFTA_TABLE_FLAGS) found.flags = cursor.be32();
  }
  return { family, ...found };
}

/** Writes, as one transaction, that packets meet the chains of tables again; their other flags stay. */
export function writeWaking(
  writer: NetlinkWriter,
  first: number,
  tables: readonly TableState[],
): void {
  writeBatch(writer, first, tables, (table, sequence, wantsAck) => {
    const flags = NLM_F_REQUEST | (wantsAck ? NLM_F_ACK : 0);
    writer.message({ type: NFT_MSG_NEWTABLE, flags, sequence }, () => {
      writer.header([TABLE_FAMILY_NUMBERS.get(table.family) ?? ALL_TABLE_FAMILIES, 0, 0, 0]);
      writer.text(NFTA_TABLE_NAME, table.name);
      writer.be32(NFTA_TABLE_FLAGS, table.flags & ~NFT_TABLE_F_DORMANT);
    });
  });
}
