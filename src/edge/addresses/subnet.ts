import {
  type Cidr,
  canonicalIp,
  cidrContains,
  familyOf,
  parseCidr,
} from "../../core/model/address.ts";
import { readIp, V4_BYTES, V6_BYTES, writeIp } from "../../wire/ip-bytes.ts";

/** The networks from which the workloads of a node get their addresses: one of each family. */
export interface NodeSubnets {
  readonly v4: Cidr;
  readonly v6: Cidr;
}

/** What a subnetwork without a prefix has, as node engines send it. */
const DEFAULT_PREFIX = { v4: 26, v6: 120 } as const;

const V4_BITS = 32;
const V6_BITS = 128;
/** Networks that nobody gives out: node subnets end before it, service addresses begin behind it. */
const DERIVED_NETWORK = "fdfe::";
/** A derived network keeps so many bits for addresses, whatever the IPv4 one has. */
const DERIVED_HOST_BITS = 8;

/** Reads a network; one without a prefix has that of its family. Undefined where it is none. */
export function parseSubnet(text: string): Cidr | undefined {
  if (text.includes("/")) return parseCidr(text);
  const ip = canonicalIp(text);
  return ip === undefined ? undefined : parseCidr(`${ip}/${DEFAULT_PREFIX[familyOf(ip)]}`);
}

/** The IPv6 network of a node that was given an IPv4 one only: each IPv4 network has another. */
export function deriveV6(v4: Cidr): Cidr {
  const value = firstOf(v4) << BigInt(DERIVED_HOST_BITS);
  const prefix = Math.min(DEFAULT_PREFIX.v6, V6_BITS - V4_BITS + v4.prefix);
  const network = ipOf(numberOf(DERIVED_NETWORK) | value, "v6");
  const cidr = parseCidr(`${network}/${prefix}`);
  if (cidr === undefined) throw new TypeError(`${network}/${prefix} is no network`);
  return cidr;
}

/** The address at a place of a network; 0 is the network itself. */
export function addressAt(cidr: Cidr, place: number): string {
  return ipOf(firstOf(cidr) + BigInt(place), cidr.family);
}

/** Of each family, the address that stands for local clients before local servers: no service may have it. */
export function reservedAddressesOf(ranges: readonly Cidr[]): readonly string[] {
  const first = (family: Cidr["family"]) => ranges.find((range) => range.family === family);
  return [first("v4"), first("v6")].flatMap((range) =>
    range === undefined ? [] : [lastAddressOf(range)],
  );
}

/** The last address that a host may have, whatever the size of the network. */
function lastAddressOf(cidr: Cidr): string {
  const bits = (cidr.family === "v4" ? V4_BITS : V6_BITS) - cidr.prefix;
  const last = firstOf(cidr) + (1n << BigInt(bits)) - 1n;
  // The very last one of IPv4 is for broadcasts.
  return ipOf(cidr.family === "v4" && bits > 1 ? last - 1n : last, cidr.family);
}

/** Where in the network an address stands; undefined where it is of another. */
export function placeOf(cidr: Cidr, ip: string): number | undefined {
  return cidrContains(cidr, ip) ? Number(numberOf(ip) - firstOf(cidr)) : undefined;
}

/** How many addresses a network has, as far as a number tells. */
export function sizeOf({ family, prefix }: Cidr): number {
  return 2 ** ((family === "v4" ? V4_BITS : V6_BITS) - prefix);
}

/** Whether two networks have an address in common. */
export function overlaps(a: Cidr, b: Cidr): boolean {
  return cidrContains(a, networkOf(b)) || cidrContains(b, networkOf(a));
}

function networkOf({ text }: Cidr): string {
  return text.slice(0, text.indexOf("/"));
}

function firstOf(cidr: Cidr): bigint {
  return numberOf(networkOf(cidr));
}

function numberOf(ip: string): bigint {
  const bytes = new Uint8Array(V6_BYTES);
  const length = writeIp(ip, bytes, 0);
  return bytes.subarray(0, length).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

function ipOf(value: bigint, family: Cidr["family"]): string {
  const length = family === "v4" ? V4_BYTES : V6_BYTES;
  const bytes = new Uint8Array(length);
  let rest = value;
  for (let index = length - 1; index >= 0; index--) {
    bytes[index] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return readIp(bytes, 0, length);
}
