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
  const cidrs = networks.flatMap((network) => parseCidr(network) ?? []);
  return outermost(cidrs).sort(byAddress).map(spell);
}

function outermost(cidrs: readonly Cidr[]): Cidr[] {
  const unique = new Map(cidrs.map((cidr) => [cidr.text, cidr]));
  return [...unique.values()].filter(
    (inner) =>
      ![...unique.values()].some(
        (outer) => outer.prefix < inner.prefix && cidrContains(outer, addressOf(inner)),
      ),
  );
}

function addressOf({ text }: Cidr): string {
  return text.slice(0, text.indexOf("/"));
}

function spell(cidr: Cidr): string {
  return cidr.prefix === ADDRESS_BITS[cidr.family] ? addressOf(cidr) : cidr.text;
}

function byAddress(a: Cidr, b: Cidr): number {
  return Buffer.compare(bytesOf(a), bytesOf(b));
}

function bytesOf(cidr: Cidr): Uint8Array {
  const bytes = new Uint8Array(V6_BYTES);
  writeIp(addressOf(cidr), bytes, 0);
  return bytes;
}
