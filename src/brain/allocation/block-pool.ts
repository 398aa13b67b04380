import { CoreError } from "../../core/errors.ts";
import type { Cidr } from "../../core/model/address.ts";
import { bitsOf, ipOfNumber, parseSpan, type Span } from "./address-number.ts";

export interface BlockPoolOptions {
  /** What the blocks are cut from: `10.20.0.0/14`. */
  readonly range: string;
  /** How long the prefix of a block is: 26 for 64 addresses of IPv4. */
  readonly prefix: number;
  /** Networks and addresses in the range that are never given. */
  readonly reserved?: readonly string[];
}

/** A claim of more blocks than this is kept as one stretch, not block by block. */
const MAX_COUNTED_BLOCKS = 256n;

interface Stretch {
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * The blocks of one range: which are claimed, and which comes next. What is claimed twice has to be released
 * twice. The search goes on behind the block that was given last, so that what was released is given again
 * only after the others: who still remembers it is not sent to a stranger.
 */
export class BlockPool {
  readonly range: Cidr;
  readonly #prefix: number;
  readonly #span: Span;
  readonly #shift: bigint;
  readonly #blocks: bigint;
  readonly #claims = new Map<bigint, number>();
  #stretches: readonly Stretch[] = [];
  #next = 0n;

  /** @throws CoreError ERR_CONFIG_INVALID */
  constructor({ range, prefix, reserved = [] }: BlockPoolOptions) {
    const span = parseSpan(range);
    const cidr = span.cidr;
    const bits = bitsOf(cidr.family);
    if (prefix < cidr.prefix || prefix > bits) {
      throw new CoreError(
        "ERR_CONFIG_INVALID",
        `blocks of /${prefix} do not fit into ${cidr.text}; expected a prefix from ${cidr.prefix} to ${bits}`,
      );
    }
    this.range = cidr;
    this.#prefix = prefix;
    this.#span = span;
    this.#shift = BigInt(bits - prefix);
    this.#blocks = 1n << BigInt(prefix - cidr.prefix);
    for (const network of reserved) this.claim(parseSpan(network));
  }

  /** How many blocks there are. */
  get size(): bigint {
    return this.#blocks;
  }

  /** A block that nobody claims, `10.20.0.64/26`, and claims it; undefined where there is none. */
  take(): string | undefined {
    const block = this.#findFrom(this.#next, this.#blocks) ?? this.#findFrom(0n, this.#next);
    if (block === undefined) return undefined;
    this.#next = (block + 1n) % this.#blocks;
    this.#count(block, 1);
    const address = ipOfNumber(this.#span.first + (block << this.#shift), this.range.family);
    return `${address}/${this.#prefix}`;
  }

  /** Claims that very block; false where it is none of these, or somebody claims something in it. */
  takeThis(block: Span): boolean {
    const { first, last, family } = this.#span;
    const isInside = block.family === family && first <= block.first && block.last <= last;
    if (!isInside || block.cidr.prefix !== this.#prefix || this.isClaimed(block)) return false;
    this.claim(block);
    return true;
  }

  /** Keeps all blocks that a network or an address touches from being given; what lies elsewhere is passed over. */
  claim(network: Span): void {
    const touched = this.#touchedBy(network);
    if (touched === undefined) return;
    if (isWide(touched)) {
      this.#stretches = [...this.#stretches, touched];
      return;
    }
    for (let block = touched.first; block <= touched.last; block += 1n) this.#count(block, 1);
  }

  /** Takes one claim back. */
  release(network: Span): void {
    const touched = this.#touchedBy(network);
    if (touched === undefined) return;
    if (isWide(touched)) {
      const at = this.#stretches.findIndex(
        ({ first, last }) => first === touched.first && last === touched.last,
      );
      this.#stretches = this.#stretches.filter((_, index) => index !== at);
      return;
    }
    for (let block = touched.first; block <= touched.last; block += 1n) this.#count(block, -1);
  }

  /** Whether anybody claims something that the network touches. */
  isClaimed(network: Span): boolean {
    const touched = this.#touchedBy(network);
    if (touched === undefined) return false;
    const { first, last } = touched;
    if (this.#stretches.some((stretch) => stretch.first <= last && first <= stretch.last))
      return true;
    if (isWide(touched)) {
      return [...this.#claims.keys()].some((block) => first <= block && block <= last);
    }
    for (let block = first; block <= last; block += 1n) if (this.#claims.has(block)) return true;
    return false;
  }

  #findFrom(from: bigint, end: bigint): bigint | undefined {
    for (let block = from; block < end; block += 1n) {
      const stretch = this.#stretches.find(({ first, last }) => first <= block && block <= last);
      if (stretch !== undefined) block = stretch.last;
      else if (!this.#claims.has(block)) return block;
    }
    return undefined;
  }

  #count(block: bigint, by: 1 | -1): void {
    const claims = (this.#claims.get(block) ?? 0) + by;
    if (claims > 0) this.#claims.set(block, claims);
    else this.#claims.delete(block);
  }

  #touchedBy(span: Span): Stretch | undefined {
    const { first, last, family } = this.#span;
    if (span.family !== family) return undefined;
    if (span.last < first || last < span.first) return undefined;
    const blockOf = (address: bigint): bigint => (address - first) >> this.#shift;
    return {
      first: span.first <= first ? 0n : blockOf(span.first),
      last: span.last >= last ? this.#blocks - 1n : blockOf(span.last),
    };
  }
}

function isWide({ first, last }: Stretch): boolean {
  return last - first >= MAX_COUNTED_BLOCKS;
}
