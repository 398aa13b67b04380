import { type Family, familyOf } from "../../../core/model/address.ts";
import type { Protocol } from "../../../core/model/common.ts";

/** The kinds of sets that are used here. */
export type IpSetType =
  | "hash:ip"
  | "hash:ip,port"
  | "hash:ip,port,ip"
  | "hash:ip,port,net"
  | "bitmap:port";

export interface IpSet {
  readonly name: string;
  readonly type: IpSetType;
  readonly family: Family;
  /** Whether entries carry a mark for the packets that match. */
  readonly hasMarks: boolean;
}

/** An entry of a set; which fields it has is a matter of the set's type. */
export interface IpSetEntry {
  readonly ip?: string;
  readonly protocol?: Protocol;
  readonly port?: number;
  /** The second address, or network. */
  readonly second?: string;
  /** It is an exception from a larger network. */
  readonly isException?: boolean;
  readonly mark?: number;
}

/** The bits of the widest network, which a set can not hold. */
const WHOLE: Readonly<Record<Family, readonly string[]>> = {
  v4: ["0.0.0.0/1", "128.0.0.0/1"],
  v6: ["::/1", "8000::/1"],
};

/** What stands for everyone in a set of networks: no entry may be `0.0.0.0/0`. */
export function networksFor(network: string): readonly string[] {
  return network.endsWith("/0") ? WHOLE[familyOf(network)] : [network];
}

/** As `ipset` prints it: `10.96.0.10,tcp:80,10.0.0.0/8 nomatch`. */
export function entryText(entry: IpSetEntry): string {
  const { ip, protocol, port, second, isException, mark } = entry;
  const parts: string[] = [];
  if (ip !== undefined) parts.push(ip);
  if (port !== undefined) {
    parts.push(protocol === undefined ? String(port) : `${protocol.toLowerCase()}:${port}`);
  }
  if (second !== undefined) parts.push(withoutHostLength(second));
  const more = [
    ...(isException ? ["nomatch"] : []),
    ...(mark === undefined ? [] : [`skbmark 0x${mark.toString(16)}`]),
  ];
  return [parts.join(","), ...more].join(" ");
}

/** `10.0.0.1/32` is printed as `10.0.0.1`. */
function withoutHostLength(network: string): string {
  const [ip = "", length] = network.split("/");
  return length === undefined || Number(length) === HOST_BITS[familyOf(ip)] ? ip : network;
}

export const HOST_BITS: Readonly<Record<Family, number>> = { v4: 32, v6: 128 };
