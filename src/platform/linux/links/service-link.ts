import { type Family, familyOf } from "../../../core/model/address.ts";
import { HOST_BITS } from "../../../wire/netlink/ipset/ip-set.ts";
import {
  type LinkAddress,
  parseAddress,
  parseLink,
  writeAddressChange,
  writeAddressDump,
  writeDeleteLink,
  writeGetLink,
  writeLinkUp,
  writeNewDummy,
} from "../../../wire/netlink/route/link-codec.ts";
import { NETLINK_ROUTE } from "../../../wire/netlink/route/route-words.ts";
import { ERRNO } from "../../errno.ts";
import { exchangeBatches, type RefusedChange, refuseOverrun } from "../netlink/exchange-batches.ts";
import { NetlinkSocket, requestError } from "../netlink/netlink-socket.ts";
import { orderOne } from "../netlink/order-one.ts";

export interface AddressChange {
  readonly kind: "add" | "delete";
  readonly ip: string;
}

/** The addresses of a network namespace. */
export interface HostAddresses {
  /** On the link of services. */
  readonly own: readonly string[];
  /** On all others. */
  readonly others: readonly string[];
}

/** A link of the kind dummy, which is there so that this machine has the addresses of services. */
export interface ServiceLink {
  /** Makes it where it is missing. */
  ensure(): Promise<void>;
  exists(): Promise<boolean>;
  addresses(family: Family): Promise<HostAddresses>;
  /** What is refused is told; all else is done. What is there already, or gone, is as wanted. */
  change(changes: readonly AddressChange[]): Promise<readonly RefusedChange[]>;
  /** Succeeds where it is not there. */
  remove(): Promise<void>;
  close(): void;
}

/** Of the network namespace that this thread is in. @throws CoreError ERR_SYSTEM_CALL */
export function openServiceLink(name: string): ServiceLink {
  const socket = new NetlinkSocket(NETLINK_ROUTE);
  const find = async (): Promise<{ link: number; isUp: boolean } | undefined> => {
    let found: { link: number; isUp: boolean } | undefined;
    const { failures } = await socket.exchange({
      count: 1,
      write: (writer, sequence) => writeGetLink(writer, sequence, name),
      onMessage: (view, from) => {
        found = parseLink(view, from);
      },
    });
    const [failure] = failures;
    if (failure?.errno === ERRNO.ENODEV) return undefined;
    if (failure !== undefined) throw requestError(`looking for the link ${name}`, failure);
    return found;
  };
  return {
    ensure: async () => {
      const there = await find();
      if (there?.isUp) return;
      if (there === undefined) {
        await orderOne(socket, {
          what: `making the link ${name}`,
          write: (writer, at) => writeNewDummy(writer, at, name),
          isFine: isThere,
        });
        return;
      }
      const { link } = there;
      await orderOne(socket, {
        what: `bringing ${name} up`,
        write: (writer, at) => writeLinkUp(writer, at, link),
      });
    },
    exists: async () => (await find()) !== undefined,
    addresses: async (family) => {
      const link = (await find())?.link;
      const own: string[] = [];
      const others: string[] = [];
      const answer = await socket.exchange({
        count: 1,
        write: (writer, sequence) => writeAddressDump(writer, sequence),
        onMessage: (view, from, to) => {
          const address = parseAddress(view, from, to);
          if (address === undefined || familyOf(address.ip) !== family) return;
          if (address.link !== link) others.push(address.ip);
          // The kernel gives every link that is up such an address.
          else if (!isLinkLocal(address)) own.push(address.ip);
        },
      });
      refuseOverrun(answer);
      const [failure] = answer.failures;
      if (failure !== undefined) throw requestError("listing addresses", failure);
      return { own, others };
    },
    change: async (changes) => {
      if (changes.length === 0) return [];
      const link = (await find())?.link ?? 0;
      const refused = await exchangeBatches(socket, {
        items: changes,
        write: (writer, sequence, { kind, ip }, isLast) => {
          const address = { link, ip, prefixLength: HOST_BITS[familyOf(ip)] };
          writeAddressChange(writer, sequence, { kind, address }, isLast);
        },
        wordsFor: ({ kind, ip }) => `address ${kind} ${ip} dev ${name}`,
      });
      return refused.filter(({ index, errno }) =>
        changes[index]?.kind === "add" ? !isThere(errno) : !isGone(errno),
      );
    },
    remove: () =>
      orderOne(socket, {
        what: `removing the link ${name}`,
        write: (writer, sequence) => writeDeleteLink(writer, sequence, name),
        isFine: isGone,
      }),
    close: () => socket.close(),
  };
}

function isThere(errno: number): boolean {
  return errno === ERRNO.EEXIST;
}

function isGone(errno: number): boolean {
  return errno === ERRNO.ENODEV || errno === ERRNO.EADDRNOTAVAIL;
}

function isLinkLocal({ ip, prefixLength }: LinkAddress): boolean {
  return ip.startsWith("fe80:") && prefixLength < HOST_BITS.v6;
}
