import { cidrContains, parseCidr } from "../../../core/model/address.ts";
import type { IpSetEntry } from "../../../wire/netlink/ipset/ip-set.ts";
import type { LivePacket } from "./live-packet.ts";
import type { SetDirections } from "./ruleset.ts";

/**
 * The entry that a packet matches, as ip_set(8) says: of several networks the smallest one decides, and
 * an exception from it is no match.
 */
export function findSetEntry(
  entries: readonly IpSetEntry[],
  directions: SetDirections,
  packet: LivePacket,
): IpSetEntry | undefined {
  const found = entries.filter((entry) => isMatch(entry, directions, packet));
  const [best] = found.sort((a, b) => prefixOf(b) - prefixOf(a));
  return best?.isException === true ? undefined : best;
}

/** The parts of an entry are in this order, whichever of them its set has. */
function isMatch(entry: IpSetEntry, directions: SetDirections, packet: LivePacket): boolean {
  const { ip, port, protocol, second } = entry;
  const tests: ((direction: "src" | "dst") => boolean)[] = [];
  if (ip !== undefined) tests.push((from) => packet[from] === ip);
  if (port !== undefined) {
    const isOfProtocol = protocol === undefined || protocol.toLowerCase() === packet.protocol;
    tests.push((from) => isOfProtocol && packet[`${from}Port`] === port);
  }
  if (second !== undefined) tests.push((from) => contains(second, packet[from]));
  return (
    tests.length === directions.length &&
    directions.every((direction, index) => tests[index]?.(direction) === true)
  );
}

function contains(network: string, ip: string): boolean {
  const cidr = parseCidr(network);
  return cidr === undefined ? network === ip : cidrContains(cidr, ip);
}

/** Of an address alone, more than of any network. */
function prefixOf({ second = "" }: IpSetEntry): number {
  const [, length] = second.split("/");
  return length === undefined ? Number.POSITIVE_INFINITY : Number(length);
}
