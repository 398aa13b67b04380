import { type Cidr, canonicalIp } from "../../core/model/address.ts";
import { wordsOfIp } from "../../wire/ip/address-words.ts";
import type { NodePlan } from "../environment/edge-network.ts";
import { PrefixMap } from "../flows/prefix-map.ts";

/** Addresses that nobody but this node can name. */
export interface OwnAddresses {
  /** Whether it is of a network of the edge. */
  has(ip: string): boolean;
  /** What it is called; undefined where that is not known. */
  nameOf(ip: string): string | undefined;
}

export const NO_ADDRESSES: OwnAddresses = { has: () => false, nameOf: () => undefined };

/** RFC 1035 section 3.5, RFC 3596 section 2.5. */
const REVERSE = /\.(?:in-addr|ip6)\.arpa$/i;
const V4_NAME = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\.in-addr\.arpa$/i;
const V6_NAME = /^((?:[\da-f]\.){32})ip6\.arpa$/i;

/** Whether a name is one of an address, or of a network. */
export function isReverseName(name: string): boolean {
  return REVERSE.test(name);
}

/** The address that a name of `in-addr.arpa` or `ip6.arpa` stands for; undefined where it is none of one address. */
export function addressOfReverseName(name: string): string | undefined {
  const v4 = V4_NAME.exec(name);
  if (v4 !== null) return canonicalIp(v4.slice(1).reverse().join("."));
  const digits = V6_NAME.exec(name)?.[1]?.replaceAll(".", "");
  const groups = digits && [...digits].reverse().join("").match(/.{4}/g);
  return groups ? canonicalIp(groups.join(":")) : undefined;
}

type Networks = Pick<NodePlan, "subnets" | "serviceRanges" | "peerNetworks">;

/**
 * Whether an address is of the networks of a node, of those that it knows of others, or of services.
 * @param plan the one of this moment; it is read anew where it is another one than before
 */
export function holdsAddresses(plan: () => Networks | undefined): (ip: string) => boolean {
  let known: Networks | undefined;
  let networks = new PrefixMap<true>();
  return (ip) => {
    const now = plan();
    if (now !== known) {
      known = now;
      networks = new PrefixMap();
      for (const { text } of now === undefined ? [] : networksOf(now)) networks.add(text, true);
    }
    return networks.findWords(wordsOfIp(ip)) ?? false;
  };
}

function networksOf({ subnets, serviceRanges, peerNetworks }: Networks): readonly Cidr[] {
  return [subnets.v4, subnets.v6, ...serviceRanges, ...peerNetworks];
}
