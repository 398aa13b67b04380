import { familyOf } from "../../../core/model/address.ts";
import { readIp, V4_BYTES, V6_BYTES, writeIp } from "../../ip-bytes.ts";
import { AttributeCursor } from "../attribute-cursor.ts";
import { AF_INET, AF_INET6 } from "../ipvs/ipvs-words.ts";
import {
  NLM_F_ACK,
  NLM_F_CREATE,
  NLM_F_DUMP,
  NLM_F_EXCL,
  NLM_F_REQUEST,
} from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import {
  FOREVER,
  IFA_ADDRESS,
  IFA_CACHEINFO,
  IFA_F_NODAD,
  IFA_LOCAL,
  IFADDR_INDEX_AT,
  IFADDRMSG_BYTES,
  IFF_NOARP,
  IFF_UP,
  IFINFO_FLAGS_AT,
  IFINFO_INDEX_AT,
  IFINFOMSG_BYTES,
  IFLA_IFNAME,
  IFLA_INFO_KIND,
  IFLA_LINKINFO,
  RT_SCOPE_HOST,
  RT_SCOPE_UNIVERSE,
  RTM_DELADDR,
  RTM_DELLINK,
  RTM_GETADDR,
  RTM_GETLINK,
  RTM_NEWADDR,
  RTM_NEWLINK,
} from "./route-words.ts";

/** An address of a link. */
export interface LinkAddress {
  /** Number of the link. */
  readonly link: number;
  readonly ip: string;
  readonly prefixLength: number;
}

/** Makes a link of the kind `dummy`, which answers nobody's ARP, and brings it up. */
export function writeNewDummy(writer: NetlinkWriter, sequence: number, name: string): void {
  const flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
  writer.message({ type: RTM_NEWLINK, flags, sequence }, () => {
    writer.header(linkHeader(0, IFF_UP | IFF_NOARP));
    writer.text(IFLA_IFNAME, name);
    writer.nested(IFLA_LINKINFO, () => writer.text(IFLA_INFO_KIND, "dummy"));
  });
}

/** Brings a link up. */
export function writeLinkUp(writer: NetlinkWriter, sequence: number, link: number): void {
  writer.message({ type: RTM_NEWLINK, flags: NLM_F_REQUEST | NLM_F_ACK, sequence }, () => {
    writer.header(linkHeader(link, IFF_UP));
  });
}

export function writeDeleteLink(writer: NetlinkWriter, sequence: number, name: string): void {
  writer.message({ type: RTM_DELLINK, flags: NLM_F_REQUEST | NLM_F_ACK, sequence }, () => {
    writer.header(linkHeader(0, 0));
    writer.text(IFLA_IFNAME, name);
  });
}

export function writeGetLink(writer: NetlinkWriter, sequence: number, name: string): void {
  writer.message({ type: RTM_GETLINK, flags: NLM_F_REQUEST | NLM_F_ACK, sequence }, () => {
    writer.header(linkHeader(0, 0));
    writer.text(IFLA_IFNAME, name);
  });
}

/** Number of a link, and whether it is up. */
export function parseLink(view: DataView, from: number): { link: number; isUp: boolean } {
  return {
    link: view.getInt32(from + IFINFO_INDEX_AT, true),
    isUp: (view.getUint32(from + IFINFO_FLAGS_AT, true) & IFF_UP) !== 0,
  };
}

/** A change of an address; `isSource`: it may be chosen as a source by itself. */
export interface AddressMessage {
  readonly kind: "add" | "delete";
  readonly address: LinkAddress;
  readonly isSource?: boolean;
}

/** Gives a link an address, or takes it away. */
export function writeAddressChange(
  writer: NetlinkWriter,
  sequence: number,
  change: AddressMessage,
  isLast: boolean,
): void {
  const { kind, address, isSource = false } = change;
  const ack = isLast ? NLM_F_ACK : 0;
  const isAdded = kind === "add";
  const flags = NLM_F_REQUEST | ack | (isAdded ? NLM_F_CREATE | NLM_F_EXCL : 0);
  writer.message({ type: isAdded ? RTM_NEWADDR : RTM_DELADDR, flags, sequence }, () => {
    const isV4 = familyOf(address.ip) === "v4";
    const header = new Uint8Array(IFADDRMSG_BYTES);
    header.set([isV4 ? AF_INET : AF_INET6, address.prefixLength]);
    const scope = isV4 && !isSource ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE;
    header.set([isV4 ? 0 : IFA_F_NODAD, scope], 2);
    new DataView(header.buffer).setUint32(IFADDR_INDEX_AT, address.link, true);
    writer.header(header);
    const bytes = new Uint8Array(V6_BYTES);
    const length = writeIp(address.ip, bytes, 0);
    writer.bytes(IFA_LOCAL, bytes.subarray(0, length));
    writer.bytes(IFA_ADDRESS, bytes.subarray(0, length));
    if (isAdded && !isV4 && !isSource) writer.bytes(IFA_CACHEINFO, deprecated());
  });
}

export function writeAddressDump(writer: NetlinkWriter, sequence: number): void {
  writer.message({ type: RTM_GETADDR, flags: NLM_F_REQUEST | NLM_F_DUMP, sequence }, () => {
    writer.header(new Uint8Array(IFADDRMSG_BYTES));
  });
}

/** An address of a listing; undefined where it is of another family. */
export function parseAddress(view: DataView, from: number, to: number): LinkAddress | undefined {
  const length = view.getUint8(from) === AF_INET ? V4_BYTES : V6_BYTES;
  const link = view.getUint32(from + IFADDR_INDEX_AT, true);
  const prefixLength = view.getUint8(from + 1);
  const cursor = new AttributeCursor();
  cursor.enter(view, from + IFADDRMSG_BYTES, to);
  let ip: string | undefined;
  while (cursor.next()) {
    const isLocal = cursor.type === IFA_LOCAL || (cursor.type === IFA_ADDRESS && ip === undefined);
    if (isLocal && cursor.length === length) ip = readIp(cursor.bytes(), 0, length);
  }
  return ip === undefined ? undefined : { link, ip, prefixLength };
}

/** struct ifinfomsg; the flags given are set, others stay. */
export function linkHeader(link: number, flags: number): Uint8Array {
  const header = new Uint8Array(IFINFOMSG_BYTES);
  const view = new DataView(header.buffer);
  view.setInt32(IFINFO_INDEX_AT, link, true);
  view.setUint32(IFINFO_FLAGS_AT, flags, true);
  view.setUint32(IFINFO_FLAGS_AT + 4, flags, true);
  return header;
}

/** struct ifa_cacheinfo: preferred for no time, valid for ever. */
function deprecated(): Uint8Array {
  const bytes = new Uint8Array(V6_BYTES);
  new DataView(bytes.buffer).setUint32(4, FOREVER, true);
  return bytes;
}
