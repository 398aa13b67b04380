import { type BackoffOptions, backoffMs, DEFAULT_BACKOFF } from "../../core/backoff.ts";
import { CoreError } from "../../core/errors.ts";
import type { FollowCounts } from "../../core/metrics/follow-counts.ts";
import type { Raw } from "../../core/model/raw-reader.ts";
import type { KubeClient } from "./kube-client.ts";
import { type ListOutcome, listResource } from "./list-resource.ts";
import type { Refusal } from "./read-refusal.ts";
import { failOf, isExpired } from "./refusals.ts";
import type { ResourceQuery } from "./resource-query.ts";
import { ANY_VERSION, isNotNewer, isOlder } from "./resource-version.ts";
import type { WatchEvent } from "./watch-event.ts";
import { watchResource } from "./watch-resource.ts";

/** Where a reflector tells what a resource has. */
export interface ReflectorTaker {
  /** A list begins: forget what was listed before and did not come to an end. */
  listBegins(): void;
  listed(item: unknown): void;
  /** What was listed since it began is all there is. */
  listEnds(): void;
  set(object: Raw): void;
  delete(object: Raw): void;
  /** Nothing more is at hand for the moment. */
  pause(): void;
}

export interface ReflectorReport {
  /** It is listed, and followed from there. */
  ok(): void;
  failed(error: CoreError): void;
  readonly counts?: FollowCounts | undefined;
}

export interface ReflectorOptions {
  readonly resource: ResourceQuery;
  /** From 0 to 1, without 1. */
  readonly random: () => number;
  /** Rejects where the signal ends it. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly backoff?: BackoffOptions;
  readonly pageSize?: number;
  /** Twice that at most, by chance: not all who watch come back at once. */
  readonly watchSeconds?: number;
  readonly idleTimeoutMs?: number;
  readonly maxObjectBytes?: number;
}

const DEFAULTS = {
  backoff: DEFAULT_BACKOFF,
  pageSize: 500,
  watchSeconds: 300,
  idleTimeoutMs: 150_000,
  maxObjectBytes: 16_777_216,
} as const;

const MAX_RETRY_AFTER_MS = 60_000;
const WRONG_REQUEST = 400;
const NOT_FOUND = 404;

/**
 * Follows one resource of a cluster, whatever happens to connections and servers: it is listed once,
 * then watched from the version of the list; a watch that ends is taken up where it was, and where the
 * server no longer knows that place the list is made again. Nobody is told of a deletion that did not
 * happen: who takes a list compares it with what he has.
 */
export class Reflector {
  readonly #client: KubeClient;
  readonly #options: Required<ReflectorOptions>;
  readonly #taker: ReflectorTaker;
  readonly #report: ReflectorReport;
  /** Up to which version all was told; empty: nothing yet. */
  #version = "";
  #mustList = true;
  /** Whether only what the whole cluster agrees on will do. */
  #wantsNewest = false;
  /** Whether pages can not be had: their version ended while they were read. */
  #isUnpaged = false;
  #failures = 0;
  #isWell = false;

  constructor(
    client: KubeClient,
    options: ReflectorOptions,
    taker: ReflectorTaker,
    report: ReflectorReport,
  ) {
    this.#client = client;
    this.#options = { ...DEFAULTS, ...options };
    this.#taker = taker;
    this.#report = report;
  }

  /** Follows until the signal comes; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const waitMs = await this.#step(signal);
      if (waitMs <= 0 || signal.aborted) continue;
      await this.#options.sleep(waitMs, signal).catch(() => undefined);
    }
  }

  /** Lists or watches once. @returns how long to wait before the next step */
  async #step(signal: AbortSignal): Promise<number> {
    try {
      return this.#mustList ? await this.#list(signal) : await this.#watch(signal);
    } catch (error) {
      if (signal.aborted) return 0;
      const { resource } = this.#options;
      return this.#failed(
        error instanceof CoreError
          ? error
          : new CoreError("ERR_API_PROTOCOL", `${resource.path}: ${String(error)}`, {
              cause: error,
            }),
      );
    }
  }

  async #list(signal: AbortSignal): Promise<number> {
    const { resource, pageSize, idleTimeoutMs, maxObjectBytes } = this.#options;
    const notOlderThan = this.#wantsNewest ? "" : this.#version || ANY_VERSION;
    this.#taker.listBegins();
    const outcome = await listResource(
      this.#client,
      {
        resource,
        notOlderThan,
        pageSize: this.#isUnpaged ? 0 : pageSize,
        maxItemBytes: maxObjectBytes,
        idleTimeoutMs,
      },
      (item) => this.#taker.listed(item),
      signal,
    );
    if (outcome.kind === "refused" && !isExpired(outcome.refusal)) {
      return this.#refused(outcome.refusal, "list");
    }
    if (!this.#isBelieved(outcome)) {
      // The newest state of all is truth, also where a cluster was set back.
      this.#isUnpaged = this.#wantsNewest;
      this.#wantsNewest = true;
      return this.#wait();
    }
    this.#version = outcome.version;
    this.#mustList = false;
    this.#wantsNewest = false;
    this.#isUnpaged = false;
    this.#report.counts?.listed();
    this.#taker.listEnds();
    this.#taker.pause();
    this.#failures = 0;
    this.#wellAgain();
    return 0;
  }

  /** A server that lags behind has an older state than the one that is known already. */
  #isBelieved(outcome: ListOutcome): outcome is Extract<ListOutcome, { readonly kind: "listed" }> {
    if (outcome.kind === "refused") return false;
    return this.#wantsNewest || this.#version === "" || !isOlder(outcome.version, this.#version);
  }

  async #watch(signal: AbortSignal): Promise<number> {
    const { resource, watchSeconds, idleTimeoutMs, maxObjectBytes, random } = this.#options;
    let count = 0;
    const outcome = await watchResource(
      this.#client,
      {
        resource,
        version: this.#version,
        timeoutSeconds: Math.floor(watchSeconds * (1 + random())),
        maxLineBytes: maxObjectBytes,
        idleTimeoutMs,
      },
      {
        opened: () => {
          this.#report.counts?.following();
          this.#wellAgain();
        },
        event: (event) => {
          count += 1;
          this.#report.counts?.changed(1);
          this.#take(event);
        },
        pause: () => this.#taker.pause(),
      },
      signal,
    ).finally(() => this.#report.counts?.lost());
    if (outcome.kind === "refused") {
      if (!isExpired(outcome.refusal)) return this.#refused(outcome.refusal, "watch");
      this.#mustList = true;
      return this.#wait();
    }
    // One that brought nothing may end at once again and again: that is no reason to ask ever faster.
    if (count === 0) return this.#wait();
    this.#failures = 0;
    return 0;
  }

  /** What is not newer than what was told is old news: an event that came twice, or a server that lags. */
  #take(event: Exclude<WatchEvent, { readonly type: "error" | "unknown" }>): void {
    if (isNotNewer(event.version, this.#version)) return;
    if (event.type === "set") this.#taker.set(event.object);
    else if (event.type === "delete") this.#taker.delete(event.object);
    this.#version = event.version;
  }

  #refused(refusal: Refusal, verb: string): number {
    // What a server does not understand, or does not have, may be the version: then a list helps.
    if (refusal.status === WRONG_REQUEST || refusal.status === NOT_FOUND) this.#mustList = true;
    const waitMs = this.#failed(failOf(refusal, `${verb} ${this.#options.resource.path}`));
    return Math.max(waitMs, Math.min(refusal.retryAfterMs, MAX_RETRY_AFTER_MS));
  }

  #failed(error: CoreError): number {
    this.#isWell = false;
    this.#report.failed(error);
    return this.#wait();
  }

  #wellAgain(): void {
    if (this.#isWell) return;
    this.#isWell = true;
    this.#report.ok();
  }

  #wait(): number {
    this.#failures += 1;
    return backoffMs(this.#options.backoff, this.#failures, this.#options.random());
  }
}
