import { type Cidr, cidrContains, parseCidr } from "../../../core/model/address.ts";
import { V6_BYTES, writeIp } from "../../../wire/ip-bytes.ts";

const ADDRESS_BITS = { v4: 32, v6: 128 } as const;

/** Networks of one family as nft lists them in a rule: one alone stands for itself, several in braces. */
export function networkSet(networks: readonly string[]): string {
  const texts = outermostNetworks(networks);
  return texts.length === 1 ? (texts[0] ?? "") : `{ ${texts.join(", ")} }`;
}

/**
 * Networks of one family as nft lists them, ascending: single addresses without a length, and none that
 * lies inside another, which nft refuses.
 */
export function outermostNetworks(networks: readonly string[]): readonly string[] {
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
  return outermost.map(spell);
}

function addressOf({ text }: Cidr): string {
  return text.slice(0, text.indexOf("/"));
}

function spell(cidr: Cidr): string {
  return cidr.prefix === ADDRESS_BITS[cidr.family] ? addressOf(cidr) : cidr.text;
}

function bytesOf(cidr: Cidr): Uint8Array {
  const bytes = new Uint8Array(V6_BYTES);
  writeIp(addressOf(cidr), bytes, 0);
  return bytes;
}
