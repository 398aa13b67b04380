import { AttributeCursor } from "../attribute-cursor.ts";
import { NLM_F_DUMP, NLM_F_REQUEST } from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import { RTM_GETQDISC, TCA_KIND, TCMSG_BYTES, TCMSG_INDEX_AT } from "./route-words.ts";

/** A queueing discipline of a listing. */
export interface ListedQdisc {
  /** Number of the link. */
  readonly link: number;
  /** `fq_codel`, `clsact`. */
  readonly kind: string;
}

export function writeQdiscDump(writer: NetlinkWriter, sequence: number): void {
  writer.message({ type: RTM_GETQDISC, flags: NLM_F_REQUEST | NLM_F_DUMP, sequence }, () => {
    writer.header(new Uint8Array(TCMSG_BYTES));
  });
}

export function parseQdisc(view: DataView, from: number, to: number): ListedQdisc {
  const cursor = new AttributeCursor();
  let kind = "";
  cursor.enter(view, from + TCMSG_BYTES, to);
  while (cursor.next()) if (cursor.type === TCA_KIND) kind = cursor.text();
  return { link: view.getInt32(from + TCMSG_INDEX_AT, true), kind };
}
