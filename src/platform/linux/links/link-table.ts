import {
  type LinkAddress,
  parseAddress,
  writeAddressChange,
  writeAddressDump,
  writeDeleteLink,
} from "../../../wire/netlink/route/link-codec.ts";
import {
  type ListedLink,
  type NewBridge,
  type NewPair,
  parseListedLink,
  writeHairpin,
  writeLinkDump,
  writeLinkMtu,
  writeNewBridge,
  writeNewPair,
} from "../../../wire/netlink/route/pair-codec.ts";
import {
  type ListedQdisc,
  parseQdisc,
  writeQdiscDump,
} from "../../../wire/netlink/route/qdisc-codec.ts";
import {
  type Route,
  type RouteMessage,
  writeRouteChange,
} from "../../../wire/netlink/route/route-codec.ts";
import { NETLINK_ROUTE } from "../../../wire/netlink/route/route-words.ts";
import { ERRNO } from "../../errno.ts";
import { dumpAll } from "../netlink/dump-all.ts";
import { NetlinkSocket } from "../netlink/netlink-socket.ts";
import { orderOne } from "../netlink/order-one.ts";

/** Links, their queues, addresses and routes of a network namespace. All throw CoreError ERR_SYSTEM_CALL. */
export class LinkTable {
  readonly #socket: NetlinkSocket;

  /** Of the network namespace that this thread is in. */
  constructor() {
    this.#socket = new NetlinkSocket(NETLINK_ROUTE);
  }

  async list(): Promise<readonly ListedLink[]> {
    return (await dumpAll(this.#socket, "listing links", writeLinkDump, parseListedLink)).items;
  }

  async find(name: string): Promise<ListedLink | undefined> {
    return (await this.list()).find((link) => link.name === name);
  }

  async addresses(): Promise<readonly LinkAddress[]> {
    const { items } = await dumpAll(
      this.#socket,
      "listing addresses",
      writeAddressDump,
      parseAddress,
    );
    return items.filter((address) => address !== undefined);
  }

  /** The outermost ones of each link, of both directions. */
  async qdiscs(): Promise<readonly ListedQdisc[]> {
    const what = "listing queueing disciplines";
    return (await dumpAll(this.#socket, what, writeQdiscDump, parseQdisc)).items;
  }

  makeBridge(bridge: NewBridge): Promise<void> {
    return orderOne(this.#socket, {
      what: `making the bridge ${bridge.name}`,
      write: (writer, at) => writeNewBridge(writer, at, bridge),
    });
  }

  /** The peer comes to be where `namespace` is a descriptor of. */
  makePair(pair: NewPair): Promise<void> {
    return orderOne(this.#socket, {
      what: `making the links ${pair.name} and ${pair.peer.name}`,
      write: (writer, at) => writeNewPair(writer, at, pair),
    });
  }

  /** Lets a port of a bridge have back what came from it. */
  allowHairpin(port: string): Promise<void> {
    return orderOne(this.#socket, {
      what: `setting up ${port} as a port of its bridge`,
      write: (writer, at) => writeHairpin(writer, at, port),
    });
  }

  bringUp({ name, link }: ListedLink, mtu: number): Promise<void> {
    return orderOne(this.#socket, {
      what: `bringing ${name} up`,
      write: (writer, at) => writeLinkMtu(writer, at, { link, mtu }),
    });
  }

  /** Succeeds where it is there already. */
  addAddress(address: LinkAddress): Promise<void> {
    return this.#changeAddress("add", address, ERRNO.EEXIST);
  }

  /** Succeeds where it is not there. */
  deleteAddress(address: LinkAddress): Promise<void> {
    return this.#changeAddress("delete", address, ERRNO.EADDRNOTAVAIL);
  }

  /** `add` leaves one that is there as it is; `delete` succeeds where there is none. */
  changeRoute(kind: RouteMessage["kind"], route: Route): Promise<void> {
    const fine = { add: ERRNO.EEXIST, replace: 0, delete: ERRNO.ESRCH }[kind];
    return orderOne(this.#socket, {
      what: `${kind} of the route to ${route.to.text}`,
      write: (writer, at) => writeRouteChange(writer, at, { kind, route }),
      isFine: (errno) => errno === fine,
    });
  }

  /** Succeeds where it is not there. */
  remove(name: string): Promise<void> {
    return orderOne(this.#socket, {
      what: `removing the link ${name}`,
      write: (writer, at) => writeDeleteLink(writer, at, name),
      isFine: (errno) => errno === ERRNO.ENODEV,
    });
  }

  close(): void {
    this.#socket.close();
  }

  #changeAddress(kind: "add" | "delete", address: LinkAddress, fine: number): Promise<void> {
    return orderOne(this.#socket, {
      what: `${kind} of the address ${address.ip}/${address.prefixLength}`,
      write: (writer, at) => {
        writeAddressChange(writer, at, { kind, address, isSource: true }, true);
      },
      isFine: (errno) => errno === fine,
    });
  }
}
