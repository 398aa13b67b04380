import { AttributeCursor } from "../attribute-cursor.ts";
import { NFGENMSG_BYTES } from "../conntrack/conntrack-words.ts";
import { NLM_F_DUMP, NLM_F_REQUEST } from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import {
  NFT_MSG_GETCHAIN,
  NFTA_CHAIN_HOOK,
  NFTA_CHAIN_NAME,
  NFTA_CHAIN_TABLE,
  NFTA_CHAIN_TYPE,
  NFTA_CHAIN_USE,
  NFTA_HOOK_HOOKNUM,
} from "./nftables-words.ts";
import { ALL_TABLE_FAMILIES, TABLE_FAMILIES, type TableFamily } from "./table-families.ts";

/** A chain that packets come to by themselves, unless its table is dormant. */
export interface BaseChain {
  readonly family: TableFamily;
  readonly table: string;
  readonly name: string;
  /** `filter`, `nat` or `route`. */
  readonly type: string;
  /** NF_INET_ of linux/netfilter.h, in the families that have these. */
  readonly hook: number;
  readonly ruleCount: number;
}

/** Asks for all chains of a network namespace. */
export function writeChainDump(writer: NetlinkWriter, sequence: number): void {
  const flags = NLM_F_REQUEST | NLM_F_DUMP;
  writer.message({ type: NFT_MSG_GETCHAIN, flags, sequence }, () => {
    writer.header([ALL_TABLE_FAMILIES, 0, 0, 0]);
  });
}

/** Reads the payload of one message. @returns undefined where packets come to the chain by rules only */
export function parseBaseChain(view: DataView, from: number, to: number): BaseChain | undefined {
  const family = TABLE_FAMILIES.get(view.getUint8(from));
  if (family === undefined) return undefined;
  const found = { table: "", name: "", type: "", ruleCount: 0 };
  let hook: number | undefined;
  const cursor = new AttributeCursor();
  cursor.enter(view, from + NFGENMSG_BYTES, to);
  while (cursor.next()) {
    if (cursor.type === NFTA_CHAIN_TABLE) found.table = cursor.text();
    else if (cursor.type === NFTA_CHAIN_NAME) found.name = cursor.text();
    else if (cursor.type === NFTA_CHAIN_TYPE) found.type = cursor.text();
    else if (cursor.type === NFTA_CHAIN_USE) found.ruleCount = cursor.be32();
    else if (cursor.type === NFTA_CHAIN_HOOK) hook = hookNumber(cursor);
  }
  return hook === undefined ? undefined : { family, ...found, hook };
}

function hookNumber(chain: AttributeCursor): number {
  const cursor = new AttributeCursor();
  chain.into(cursor);
  while (cursor.next()) if (cursor.type === NFTA_HOOK_HOOKNUM) return cursor.be32();
  return 0;
}
