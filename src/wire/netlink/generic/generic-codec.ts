import { AttributeCursor } from "../attribute-cursor.ts";
import { NLM_F_ACK, NLM_F_REQUEST } from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";

/** Numbers of linux/netlink.h and linux/genetlink.h. */
export const NETLINK_GENERIC = 16;
/** struct genlmsghdr: command, version, two bytes that say nothing. */
export const GENERIC_HEADER_BYTES = 4;

const GENL_ID_CTRL = 0x10;
const CTRL_CMD_GETFAMILY = 3;
const CTRL_VERSION = 2;
const CTRL_ATTR_FAMILY_ID = 1;
const CTRL_ATTR_FAMILY_NAME = 2;

/** Asks for the number of a family; the kernel loads the module that has it, where it can. */
export function writeGetFamily(writer: NetlinkWriter, sequence: number, name: string): void {
  const flags = NLM_F_REQUEST | NLM_F_ACK;
  writer.message({ type: GENL_ID_CTRL, flags, sequence }, () => {
    writer.header([CTRL_CMD_GETFAMILY, CTRL_VERSION, 0, 0]);
    writer.text(CTRL_ATTR_FAMILY_NAME, name);
  });
}

/** The number of a family in an answer; undefined where it says none. */
export function parseFamilyId(view: DataView, from: number, to: number): number | undefined {
  const cursor = new AttributeCursor();
  cursor.enter(view, from + GENERIC_HEADER_BYTES, to);
  while (cursor.next()) if (cursor.type === CTRL_ATTR_FAMILY_ID) return cursor.u16();
  return undefined;
}
