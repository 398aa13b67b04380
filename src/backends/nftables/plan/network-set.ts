import { type Cidr, cidrContains, parseCidr } from "../../../core/model/address.ts";
import { readIp, V4_BYTES, V6_BYTES, writeIp } from "../../../wire/ip-bytes.ts";

const ADDRESS_BITS = { v4: 32, v6: 128 } as const;

/** Addresses of one family without a gap. */
interface Span {
  readonly bytes: typeof V4_BYTES | typeof V6_BYTES;
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * Networks of one family as nft lists them in a rule: those without a gap between them as one; one alone
 * stands for itself, several in braces.
 */
export function networkSet(networks: readonly string[]): string {
  const texts = joined(outermost(networks).map(spanOf)).map(spellSpan);
  return texts.length === 1 ? (texts[0] ?? "") : `{ ${texts.join(", ")} }`;
}

/**
 * Networks of one family as nft lists them in a set that has a name, ascending: single addresses without
 * a length, and none that lies inside another, which nft refuses.
 */
export function outermostNetworks(networks: readonly string[]): readonly string[] {
  return outermost(networks).map(spell);
}

function outermost(networks: readonly string[]): readonly Cidr[] {
  const placed = networks.flatMap((network) => {
    const cidr = parseCidr(network);
    return cidr === undefined ? [] : [{ cidr, bytes: bytesOf(cidr) }];
  });
  placed.sort((a, b) => Buffer.compare(a.bytes, b.bytes) || a.cidr.prefix - b.cidr.prefix);
  const outermost: Cidr[] = [];
  // What holds others comes before them, with nothing between that it does not hold.
  for (const { cidr } of placed) {
    const before = outermost.at(-1);
    if (before === undefined || !cidrContains(before, addressOf(cidr))) outermost.push(cidr);
  }
  return outermost;
}

/** @param spans ascending, none of which holds another */
function joined(spans: readonly Span[]): readonly Span[] {
  const joined: Span[] = [];
  for (const span of spans) {
    const before = joined.at(-1);
    if (before?.last === span.first - 1n) joined.splice(-1, 1, { ...before, last: span.last });
    else joined.push(span);
  }
  return joined;
}

function spanOf(cidr: Cidr): Span {
  const hostBits = ADDRESS_BITS[cidr.family] - cidr.prefix;
  const bytes = cidr.family === "v4" ? V4_BYTES : V6_BYTES;
  const first = BigInt(`0x${bytesOf(cidr).subarray(0, bytes).toString("hex")}`);
  return { bytes, first, last: first + (1n << BigInt(hostBits)) - 1n };
}

function spellSpan({ bytes, first, last }: Span): string {
  const size = last - first + 1n;
  const hostBits = size.toString(2).length - 1;
  const isNetwork = size === 1n << BigInt(hostBits) && first % size === 0n;
  const from = textOf(first, bytes);
  if (hostBits === 0) return from;
  return isNetwork ? `${from}/${bytes * 8 - hostBits}` : `${from}-${textOf(last, bytes)}`;
}

function textOf(address: bigint, bytes: Span["bytes"]): string {
  return readIp(Buffer.from(address.toString(16).padStart(2 * bytes, "0"), "hex"), 0, bytes);
}

function addressOf({ text }: Cidr): string {
  return text.slice(0, text.indexOf("/"));
}

function spell(cidr: Cidr): string {
  return cidr.prefix === ADDRESS_BITS[cidr.family] ? addressOf(cidr) : cidr.text;
}

function bytesOf(cidr: Cidr): Buffer {
  const bytes = Buffer.alloc(V6_BYTES);
  writeIp(addressOf(cidr), bytes, 0);
  return bytes;
}
