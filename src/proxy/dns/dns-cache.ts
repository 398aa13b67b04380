import type { DnsQuery } from "../../wire/dns/dns-query.ts";
import type { DnsResponse } from "../../wire/dns/dns-response.ts";
import { TYPES } from "../../wire/dns/dns-words.ts";
import { readIp, V4_BYTES, V6_BYTES } from "../../wire/ip-bytes.ts";

/** An answer that is kept, for people. */
export interface DnsCacheEntry {
  readonly name: string;
  readonly type: number;
  readonly rcode: number;
  readonly answers: number;
  /** Those that the answer names. */
  readonly addresses: readonly string[];
  /** How long it still holds. */
  readonly leftSeconds: number;
}

export interface Kept {
  readonly response: DnsResponse;
  readonly ageSeconds: number;
}

interface Page {
  readonly query: DnsQuery;
  readonly response: DnsResponse;
  readonly atMs: number;
  readonly untilMs: number;
}

const MS_A_SECOND = 1000;
/** By the type of the record. */
const ADDRESS_BYTES: ReadonlyMap<number, 4 | 16> = new Map([
  [TYPES.A, V4_BYTES],
  [TYPES.AAAA, V6_BYTES],
]);
/** Longer is not believed: names move. */
const MAX_TTL_SECONDS = 3600;
/** Nobody needs long answers often. */
const MAX_KEPT_BYTES = 4096;

/** Answers of resolvers for as long as they hold; the one that was asked for longest ago makes room. */
export class DnsCache {
  readonly #maxEntries: number;
  /** In the order of their last use. */
  readonly #pages = new Map<string, Page>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  find(query: DnsQuery, nowMs: number): Kept | undefined {
    const key = dnsCacheKey(query);
    const page = this.#pages.get(key);
    if (page === undefined) return undefined;
    this.#pages.delete(key);
    if (page.untilMs <= nowMs) return undefined;
    this.#pages.set(key, page);
    const ageSeconds = Math.floor((nowMs - page.atMs) / MS_A_SECOND);
    return { response: page.response, ageSeconds };
  }

  note(query: DnsQuery, response: DnsResponse, nowMs: number): void {
    const ttlMs = Math.min(response.ttlSeconds, MAX_TTL_SECONDS) * MS_A_SECOND;
    if (ttlMs === 0 || response.bytes.length > MAX_KEPT_BYTES) return;
    const key = dnsCacheKey(query);
    this.#pages.delete(key);
    this.#pages.set(key, { query, response, atMs: nowMs, untilMs: nowMs + ttlMs });
    if (this.#pages.size <= this.#maxEntries) return;
    for (const oldest of this.#pages.keys()) {
      this.#pages.delete(oldest);
      break;
    }
  }

  /** Forgets all answers to questions for a name, in lower case; false where there are none. */
  drop(name: string): boolean {
    let isThere = false;
    for (const [key, { query }] of [...this.#pages]) {
      if (query.question.name.toLowerCase() !== name) continue;
      this.#pages.delete(key);
      isThere = true;
    }
    return isThere;
  }

  /** What holds now, the last used last. */
  entries(nowMs: number): readonly DnsCacheEntry[] {
    return [...this.#pages.values()]
      .filter(({ untilMs }) => untilMs > nowMs)
      .map(({ query, response, untilMs }) => ({
        name: query.question.name.toLowerCase(),
        type: query.question.type,
        rcode: response.rcode,
        answers: response.records.filter(({ section }) => section === "answer").length,
        addresses: addressesIn(response),
        leftSeconds: Math.ceil((untilMs - nowMs) / MS_A_SECOND),
      }));
  }
}

function addressesIn({ bytes, records }: DnsResponse): readonly string[] {
  return records.flatMap(({ section, type, dataStart, dataEnd }) => {
    const byteCount = section === "answer" ? ADDRESS_BYTES.get(type) : undefined;
    return byteCount === dataEnd - dataStart ? [readIp(bytes, dataStart, byteCount)] : [];
  });
}

/** The same for queries that get the same answer. */
export function dnsCacheKey({ question, extension, disablesChecking }: DnsQuery): string {
  const { name, type, class: of } = question;
  const said = extension === undefined ? "plain" : String(extension.wantsSignatures);
  return `${name.toLowerCase()} ${type} ${of} ${said} ${disablesChecking}`;
}
