import { CoreError } from "../../core/errors.ts";
import { type Cidr, parseCidr } from "../../core/model/address.ts";
import { type AddressWords, sameWords, wordsOfIp } from "../../wire/ip/address-words.ts";

interface Entry<V> {
  readonly network: AddressWords;
  readonly value: V;
}

/** The networks of one family and length. */
interface Level<V> {
  readonly isV6: boolean;
  readonly prefix: number;
  readonly masks: readonly [number, number, number, number];
  readonly entries: Map<number, Entry<V>[]>;
}

/** A network with its value. */
export interface NetworkEntry<V> {
  readonly isV6: boolean;
  readonly prefix: number;
  readonly network: AddressWords;
  readonly value: V;
}

/**
 * Values by network; the longest network that holds an address decides. Looking up takes as many
 * steps as there are lengths in use, whatever the number of networks.
 */
export class PrefixMap<V> {
  /** The longest first. */
  #levels: Level<V>[] = [];
  #revision = 0;

  /** Another one after each change. */
  get revision(): number {
    return this.#revision;
  }

  /** @throws CoreError ERR_ADDRESS_TAKEN where the network has another value already */
  add(cidr: string, value: V): void {
    const { parsed, network } = read(cidr);
    const level = this.#level(parsed);
    const bucket = level.entries.get(hashOf(network.w0, network.w1, network.w2, network.w3)) ?? [];
    const there = bucket.find((entry) => sameWords(entry.network, network));
    if (there?.value === value) return;
    if (there !== undefined) {
      throw new CoreError("ERR_ADDRESS_TAKEN", `network ${cidr}: somebody else has it already`);
    }
    level.entries.set(hashOf(network.w0, network.w1, network.w2, network.w3), [
      ...bucket,
      { network, value },
    ]);
    this.#revision += 1;
  }

  /** Succeeds where it is not there, or has another value. */
  delete(cidr: string, value: V): void {
    const { parsed, network } = read(cidr);
    const level = this.#level(parsed);
    const hash = hashOf(network.w0, network.w1, network.w2, network.w3);
    const left = level.entries
      .get(hash)
      ?.filter((entry) => entry.value !== value || !sameWords(entry.network, network));
    if (left === undefined || left.length === 0) level.entries.delete(hash);
    else level.entries.set(hash, left);
    this.#revision += 1;
    if (level.entries.size === 0) this.#levels = this.#levels.filter((each) => each !== level);
  }

  find(isV6: boolean, w0: number, w1: number, w2: number, w3: number): V | undefined {
    for (const level of this.#levels) {
      if (level.isV6 !== isV6) continue;
      const [m0, m1, m2, m3] = level.masks;
      const bucket = level.entries.get(hashOf(w0 & m0, w1 & m1, w2 & m2, w3 & m3));
      if (bucket === undefined) continue;
      for (const { network, value } of bucket) {
        const isIt =
          network.w3 === (w3 & m3) &&
          network.w2 === (w2 & m2) &&
          network.w1 === (w1 & m1) &&
          network.w0 === (w0 & m0);
        if (isIt) return value;
      }
    }
    return undefined;
  }

  findWords({ isV6, w0, w1, w2, w3 }: AddressWords): V | undefined {
    return this.find(isV6, w0, w1, w2, w3);
  }

  *entries(): Generator<NetworkEntry<V>> {
    for (const { isV6, prefix, entries } of this.#levels) {
      for (const bucket of entries.values()) {
        for (const { network, value } of bucket) yield { isV6, prefix, network, value };
      }
    }
  }

  #level({ family, prefix }: Cidr): Level<V> {
    const isV6 = family === "v6";
    const there = this.#levels.find((level) => level.isV6 === isV6 && level.prefix === prefix);
    if (there !== undefined) return there;
    const level = { isV6, prefix, masks: masksOf(isV6 ? prefix : 96 + prefix), entries: new Map() };
    this.#levels = [...this.#levels, level].sort((a, b) => b.prefix - a.prefix);
    return level;
  }
}

function read(cidr: string): { parsed: Cidr; network: AddressWords } {
  const parsed = parseCidr(cidr);
  if (parsed === undefined) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `network: "${cidr}" is none; write one as 10.18.0.0/26 or fd00::/120`,
    );
  }
  return { parsed, network: wordsOfIp(parsed.text.slice(0, parsed.text.indexOf("/"))) };
}

/** Of 128 bits; those of IPv4 are the last 32. */
function masksOf(prefix: number): [number, number, number, number] {
  const word = (index: number): number => {
    const bits = Math.min(32, Math.max(0, prefix - index * 32));
    return bits === 0 ? 0 : -1 << (32 - bits);
  };
  return [word(0), word(1), word(2), word(3)];
}

function hashOf(w0: number, w1: number, w2: number, w3: number): number {
  return Math.imul(w0, 0x9e3779b1) ^ Math.imul(w1, 0x85ebca6b) ^ Math.imul(w2, 0xc2b2ae35) ^ w3;
}
