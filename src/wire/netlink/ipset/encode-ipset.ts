import { familyOf } from "../../../core/model/address.ts";
import { V4_BYTES, V6_BYTES, writeIp } from "../../ip-bytes.ts";
import { PROTOCOL_NUMBERS } from "../conntrack/flow.ts";
import { AF_INET, AF_INET6 } from "../ipvs/ipvs-words.ts";
import {
  NLA_F_NET_BYTEORDER,
  NLM_F_ACK,
  NLM_F_CREATE,
  NLM_F_DUMP,
  NLM_F_REQUEST,
} from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import { HOST_BITS, type IpSet, type IpSetEntry, type IpSetType } from "./ip-set.ts";
import {
  IPSET_ATTR_CADT_FLAGS,
  IPSET_ATTR_CIDR2,
  IPSET_ATTR_DATA,
  IPSET_ATTR_FAMILY,
  IPSET_ATTR_IP,
  IPSET_ATTR_IP2,
  IPSET_ATTR_IPADDR_IPV4,
  IPSET_ATTR_IPADDR_IPV6,
  IPSET_ATTR_MAXELEM,
  IPSET_ATTR_PORT,
  IPSET_ATTR_PORT_TO,
  IPSET_ATTR_PROTO,
  IPSET_ATTR_PROTOCOL,
  IPSET_ATTR_REVISION,
  IPSET_ATTR_SETNAME,
  IPSET_ATTR_SKBMARK,
  IPSET_ATTR_TYPENAME,
  IPSET_CMD_ADD,
  IPSET_CMD_CREATE,
  IPSET_CMD_DEL,
  IPSET_CMD_DESTROY,
  IPSET_CMD_LIST,
  IPSET_FLAG_NOMATCH,
  IPSET_FLAG_WITH_SKBINFO,
  IPSET_PROTOCOL,
} from "./ipset-words.ts";

/**
 * A change of one thing. Creating what is there and adding an entry that is there succeed, and so does
 * deleting an entry that is not.
 */
export type IpSetChange =
  | { readonly kind: "create" | "destroy"; readonly set: IpSet }
  | { readonly kind: "add" | "delete"; readonly set: IpSet; readonly entry: IpSetEntry };

const COMMANDS = {
  create: IPSET_CMD_CREATE,
  destroy: IPSET_CMD_DESTROY,
  add: IPSET_CMD_ADD,
  delete: IPSET_CMD_DEL,
} as const;

/** The first that have what is used here. */
const REVISIONS: Readonly<Record<IpSetType, number>> = {
  "hash:ip": 0,
  "hash:ip,port": 1,
  "hash:ip,port,ip": 1,
  "hash:ip,port,net": 4,
  "bitmap:port": 0,
};
const REVISION_WITH_MARKS = 5;
/** Far more than a node is told of. */
export const MAX_ENTRIES = 4_194_304;
const MAX_PORT = 65_535;
const MARK_SHIFT = 32n;
const WHOLE_MASK = 0xffff_ffffn;

export function writeIpSetChange(
  writer: NetlinkWriter,
  sequence: number,
  change: IpSetChange,
  isLast: boolean,
): void {
  const { kind, set } = change;
  const flags = NLM_F_REQUEST | (kind === "create" ? NLM_F_CREATE : 0) | (isLast ? NLM_F_ACK : 0);
  writer.message({ type: COMMANDS[kind], flags, sequence }, () => {
    writeHeader(writer);
    writer.text(IPSET_ATTR_SETNAME, set.name);
    if (kind === "create") writeSet(writer, set);
    if ("entry" in change) {
      writer.nested(IPSET_ATTR_DATA, () => writeEntry(writer, change.entry, kind === "add"));
    }
  });
}

/** Asks for a set with its entries. */
export function writeIpSetDump(writer: NetlinkWriter, sequence: number, name: string): void {
  writer.message(
    { type: IPSET_CMD_LIST, flags: NLM_F_REQUEST | NLM_F_ACK | NLM_F_DUMP, sequence },
    () => {
      writeHeader(writer);
      writer.text(IPSET_ATTR_SETNAME, name);
    },
  );
}

function writeHeader(writer: NetlinkWriter): void {
  writer.header([AF_INET, 0, 0, 0]);
  writer.u8(IPSET_ATTR_PROTOCOL, IPSET_PROTOCOL);
}

function writeSet(writer: NetlinkWriter, { type, family, hasMarks }: IpSet): void {
  const isBitmap = type === "bitmap:port";
  writer.text(IPSET_ATTR_TYPENAME, type);
  writer.u8(IPSET_ATTR_REVISION, hasMarks ? REVISION_WITH_MARKS : REVISIONS[type]);
  writer.u8(IPSET_ATTR_FAMILY, isBitmap ? 0 : family === "v4" ? AF_INET : AF_INET6);
  writer.nested(IPSET_ATTR_DATA, () => {
    if (isBitmap) {
      writer.be16(IPSET_ATTR_PORT | NLA_F_NET_BYTEORDER, 0);
      writer.be16(IPSET_ATTR_PORT_TO | NLA_F_NET_BYTEORDER, MAX_PORT);
      return;
    }
    writer.be32(IPSET_ATTR_MAXELEM | NLA_F_NET_BYTEORDER, MAX_ENTRIES);
    if (hasMarks) {
      writer.be32(IPSET_ATTR_CADT_FLAGS | NLA_F_NET_BYTEORDER, IPSET_FLAG_WITH_SKBINFO);
    }
  });
}

function writeEntry(writer: NetlinkWriter, entry: IpSetEntry, isAdded: boolean): void {
  const { ip, protocol, port, second, isException, mark } = entry;
  if (ip !== undefined) writeAddress(writer, IPSET_ATTR_IP, ip);
  if (port !== undefined) writer.be16(IPSET_ATTR_PORT | NLA_F_NET_BYTEORDER, port);
  if (protocol !== undefined) writer.u8(IPSET_ATTR_PROTO, PROTOCOL_NUMBERS[protocol]);
  if (second !== undefined) {
    const [address = "", length] = second.split("/");
    writeAddress(writer, IPSET_ATTR_IP2, address);
    if (length !== undefined) writer.u8(IPSET_ATTR_CIDR2, Number(length));
  }
  if (isException) {
    writer.be32(IPSET_ATTR_CADT_FLAGS | NLA_F_NET_BYTEORDER, IPSET_FLAG_NOMATCH);
  }
  if (mark !== undefined && isAdded) {
    const value = (BigInt(mark) << MARK_SHIFT) | WHOLE_MASK;
    writer.be64(IPSET_ATTR_SKBMARK | NLA_F_NET_BYTEORDER, value);
  }
}

function writeAddress(writer: NetlinkWriter, type: number, ip: string): void {
  const isV4 = HOST_BITS[familyOf(ip)] === HOST_BITS.v4;
  const bytes = new Uint8Array(V6_BYTES);
  writeIp(ip, bytes, 0);
  writer.nested(type, () => {
    if (isV4) {
      writer.bytes(IPSET_ATTR_IPADDR_IPV4 | NLA_F_NET_BYTEORDER, bytes.subarray(0, V4_BYTES));
    } else writer.bytes(IPSET_ATTR_IPADDR_IPV6 | NLA_F_NET_BYTEORDER, bytes);
  });
}
