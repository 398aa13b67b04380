import { V6_BYTES, writeIp } from "../../../wire/ip-bytes.ts";
import { jhash } from "./jhash.ts";
import type { Value } from "./pattern.ts";

const PROTOCOL_NUMBERS: Readonly<Record<string, number>> = { tcp: 6, udp: 17, sctp: 132 };
/** Each part of several begins at a register of four bytes. */
const REGISTER_BYTES = 4;

/** What `jhash` of nftables gives: the hash, scaled down to a modulus. */
export function hashValue(value: Value, modulus: number, seed: number): number {
  const parts = typeof value === "object" ? value : [value];
  const bytes = parts.flatMap((part) => bytesOf(part, parts.length > 1));
  const hash = jhash(Uint8Array.from(bytes), seed);
  return Number((BigInt(hash) * BigInt(modulus)) >> 32n);
}

function bytesOf(part: Value, isPadded: boolean): readonly number[] {
  const bytes = [...plainBytes(part)];
  while (isPadded && bytes.length % REGISTER_BYTES !== 0) bytes.push(0);
  return bytes;
}

/** Numbers are ports: nothing else that is a number is hashed by rules of services. */
function plainBytes(part: Value): readonly number[] {
  if (typeof part === "number") return [part >> 8, part & 0xff];
  const protocol = typeof part === "string" ? PROTOCOL_NUMBERS[part] : undefined;
  if (protocol !== undefined) return [protocol];
  const bytes = new Uint8Array(V6_BYTES);
  return [...bytes.subarray(0, writeIp(String(part), bytes, 0))];
}
