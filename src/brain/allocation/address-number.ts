import ipaddr from "ipaddr.js";
import { CoreError } from "../../core/errors.ts";
import { type Cidr, canonicalIp, type Family, parseCidr } from "../../core/model/address.ts";

const BYTE_BITS = 8n;
const BITS: Readonly<Record<Family, number>> = { v4: 32, v6: 128 };

/** All addresses of a network, by number. */
export interface Span {
  readonly cidr: Cidr;
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
}

export function bitsOf(family: Family): number {
  return BITS[family];
}

/** @param ip as `canonicalIp` spells it */
function numberOfIp(ip: string): bigint {
  return ipaddr
    .parse(ip)
    .toByteArray()
    .reduce((number, byte) => (number << BYTE_BITS) | BigInt(byte), 0n);
}

export function ipOfNumber(number: bigint, family: Family): string {
  const bytes: number[] = [];
  for (let rest = number; bytes.length < BITS[family] / 8; rest >>= BYTE_BITS) {
    bytes.unshift(Number(rest & 0xffn));
  }
  const text = ipaddr.fromByteArray(bytes).toString();
  return canonicalIp(text) ?? text;
}

/**
 * The addresses of `10.0.0.0/8`, or of a single address.
 * @throws CoreError ERR_CONFIG_INVALID where `text` is neither
 */
export function parseSpan(text: string): Span {
  const cidr = parseCidr(text);
  if (cidr === undefined) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `"${text}" is no range of addresses; expected a network such as 10.20.0.0/14 or fc00::/16`,
    );
  }
  const first = numberOfIp(cidr.text.slice(0, cidr.text.indexOf("/")));
  const size = 1n << BigInt(BITS[cidr.family] - cidr.prefix);
  return { cidr, family: cidr.family, first, last: first + size - 1n };
}

/** Whether they have an address in common. */
export function overlap(a: Span, b: Span): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last;
}
