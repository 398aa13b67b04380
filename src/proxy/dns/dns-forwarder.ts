import type { SocketAddress } from "../../platform/socket-address.ts";
import type { DnsQuery } from "../../wire/dns/dns-query.ts";
import { type DnsResponse, repeatResponse } from "../../wire/dns/dns-response.ts";
import type { SessionHost } from "../relay/session-host.ts";
import { type DnsCache, dnsCacheKey, type Kept } from "./dns-cache.ts";
import { DnsForwardRun } from "./dns-forward-run.ts";

/** Gets the answer for a client, as it is to be sent; undefined where there is none. */
export type OnForwarded = (answer: Buffer | undefined) => void;

interface Waiting {
  readonly query: DnsQuery;
  readonly onForwarded: OnForwarded;
}

/** Questions under way at once; who asks beyond that is told that it failed. */
const MAX_RUNS = 512;
/** Clients that wait for the answer to the same question. */
const MAX_WAITING = 64;

/**
 * Asks resolvers for others. The same question is never under way twice: many at once would make
 * it easy to guess an answer to one of them.
 */
export class DnsForwarder {
  readonly #host: SessionHost;
  readonly #cache: DnsCache;
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(host: SessionHost, cache: DnsCache) {
    this.#host = host;
    this.#cache = cache;
  }

  /** What is known without asking. */
  recall(query: DnsQuery): Buffer | undefined {
    const kept = this.#cache.find(query, this.#host.net.loop.nowMs);
    return kept && this.#render(kept, query);
  }

  ask(query: DnsQuery, resolvers: readonly SocketAddress[], onForwarded: OnForwarded): void {
    const key = dnsCacheKey(query);
    const others = this.#waiting.get(key);
    if (others !== undefined && others.length < MAX_WAITING) {
      others.push({ query, onForwarded });
      return;
    }
    if (others !== undefined || this.#waiting.size >= MAX_RUNS) {
      onForwarded(undefined);
      return;
    }
    this.#waiting.set(key, [{ query, onForwarded }]);
    const onDone = (response: DnsResponse | undefined): void => this.#answered(query, response);
    new DnsForwardRun(this.#host, { query, resolvers, onDone }).start();
  }

  #answered(query: DnsQuery, response: DnsResponse | undefined): void {
    const key = dnsCacheKey(query);
    const waiting = this.#waiting.get(key) ?? [];
    this.#waiting.delete(key);
    if (response !== undefined) this.#cache.note(query, response, this.#host.net.loop.nowMs);
    for (const one of waiting) {
      one.onForwarded(response && this.#render({ response, ageSeconds: 0 }, one.query));
    }
  }

  #render({ response, ageSeconds }: Kept, query: DnsQuery): Buffer {
    return repeatResponse(response, query, ageSeconds);
  }
}
