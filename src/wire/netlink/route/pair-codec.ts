import { AttributeCursor } from "../attribute-cursor.ts";
import {
  NLM_F_ACK,
  NLM_F_CREATE,
  NLM_F_DUMP,
  NLM_F_EXCL,
  NLM_F_REQUEST,
} from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import { linkHeader, parseLink } from "./link-codec.ts";
import {
  ARPHRD_ETHER,
  IFF_UP,
  IFINFO_TYPE_AT,
  IFINFOMSG_BYTES,
  IFLA_ADDRESS,
  IFLA_BRPORT_MODE,
  IFLA_IFNAME,
  IFLA_INFO_DATA,
  IFLA_INFO_KIND,
  IFLA_INFO_SLAVE_DATA,
  IFLA_INFO_SLAVE_KIND,
  IFLA_LINKINFO,
  IFLA_MASTER,
  IFLA_MTU,
  IFLA_NET_NS_FD,
  RTM_GETLINK,
  RTM_NEWLINK,
  VETH_INFO_PEER,
} from "./route-words.ts";

const NEW = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;

export interface NewBridge {
  readonly name: string;
  readonly mtu: number;
  /** Its own; else it would have that of a port, and another one whenever ports come and go. */
  readonly mac: Uint8Array;
}

/** Makes a bridge and brings it up. */
export function writeNewBridge(writer: NetlinkWriter, sequence: number, bridge: NewBridge): void {
  writer.message({ type: RTM_NEWLINK, flags: NEW, sequence }, () => {
    writer.header(linkHeader(0, IFF_UP));
    writer.text(IFLA_IFNAME, bridge.name);
    writer.u32(IFLA_MTU, bridge.mtu);
    writer.bytes(IFLA_ADDRESS, bridge.mac);
    writer.nested(IFLA_LINKINFO, () => writer.text(IFLA_INFO_KIND, "bridge"));
  });
}

export interface NewPair {
  readonly name: string;
  readonly mtu: number;
  /** Number of the bridge that it is a port of. */
  readonly master: number;
  readonly peer: {
    readonly name: string;
    /** Descriptor of the network namespace that it comes to be in. */
    readonly namespace: number;
  };
}

/** Makes a pair of links, this end up and on a bridge, the other in another namespace: all or nothing. */
export function writeNewPair(writer: NetlinkWriter, sequence: number, pair: NewPair): void {
  writer.message({ type: RTM_NEWLINK, flags: NEW, sequence }, () => {
    writer.header(linkHeader(0, IFF_UP));
    writer.text(IFLA_IFNAME, pair.name);
    writer.u32(IFLA_MTU, pair.mtu);
    writer.u32(IFLA_MASTER, pair.master);
    writer.nested(IFLA_LINKINFO, () => {
      writer.text(IFLA_INFO_KIND, "veth");
      writer.nested(IFLA_INFO_DATA, () => {
        writer.nested(VETH_INFO_PEER, () => {
          writer.header(linkHeader(0, 0));
          writer.text(IFLA_IFNAME, pair.peer.name);
          writer.u32(IFLA_MTU, pair.mtu);
          writer.u32(IFLA_NET_NS_FD, pair.peer.namespace);
        });
      });
    });
  });
}

/** Lets a port of a bridge have back what came from it: a call to oneself by another address. */
export function writeHairpin(writer: NetlinkWriter, sequence: number, port: string): void {
  writer.message({ type: RTM_NEWLINK, flags: NLM_F_REQUEST | NLM_F_ACK, sequence }, () => {
    writer.header(linkHeader(0, 0));
    writer.text(IFLA_IFNAME, port);
    writer.nested(IFLA_LINKINFO, () => {
      writer.text(IFLA_INFO_SLAVE_KIND, "bridge");
      writer.nested(IFLA_INFO_SLAVE_DATA, () => writer.u8(IFLA_BRPORT_MODE, 1));
    });
  });
}

/** Brings a link up with that MTU. */
export function writeLinkMtu(
  writer: NetlinkWriter,
  sequence: number,
  { link, mtu }: { readonly link: number; readonly mtu: number },
): void {
  writer.message({ type: RTM_NEWLINK, flags: NLM_F_REQUEST | NLM_F_ACK, sequence }, () => {
    writer.header(linkHeader(link, IFF_UP));
    writer.u32(IFLA_MTU, mtu);
  });
}

/** A link of a listing. */
export interface ListedLink {
  readonly link: number;
  readonly isUp: boolean;
  /** Whether its packets have headers of Ethernet: also those of bridges and dummies, not of loopback. */
  readonly isEthernet: boolean;
  readonly name: string;
  /** `bridge`, `veth`, `tun`; empty where the kernel says none. */
  readonly kind: string;
  readonly mtu: number;
  /** Number of the bridge that it is a port of; 0 where it is of none. */
  readonly master: number;
  /** Its hardware address; empty where it has none. */
  readonly mac: Uint8Array;
}

export function writeLinkDump(writer: NetlinkWriter, sequence: number): void {
  writer.message({ type: RTM_GETLINK, flags: NLM_F_REQUEST | NLM_F_DUMP, sequence }, () => {
    writer.header(linkHeader(0, 0));
  });
}

export function parseListedLink(view: DataView, from: number, to: number): ListedLink {
  const cursor = new AttributeCursor();
  const inner = new AttributeCursor();
  let name = "";
  let kind = "";
  let mtu = 0;
  let master = 0;
  let mac: Uint8Array = new Uint8Array();
  cursor.enter(view, from + IFINFOMSG_BYTES, to);
  while (cursor.next()) {
    if (cursor.type === IFLA_IFNAME) name = cursor.text();
    if (cursor.type === IFLA_MTU) mtu = cursor.u32();
    if (cursor.type === IFLA_MASTER) master = cursor.u32();
    if (cursor.type === IFLA_ADDRESS) mac = cursor.bytes();
    if (cursor.type === IFLA_LINKINFO) kind = kindIn(cursor, inner);
  }
  const isEthernet = view.getUint16(from + IFINFO_TYPE_AT, true) === ARPHRD_ETHER;
  return { ...parseLink(view, from), isEthernet, name, kind, mtu, master, mac };
}

function kindIn(cursor: AttributeCursor, inner: AttributeCursor): string {
  let kind = "";
  cursor.into(inner);
  while (inner.next()) if (inner.type === IFLA_INFO_KIND) kind = inner.text();
  return kind;
}
