import { CoreError, messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import { keyOf } from "../../core/model/object.ts";
import { NewestKeeper } from "../../core/newest-keeper.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import {
  type AnnounceRequest,
  announcedEndpoint,
  type WithdrawRequest,
} from "./announced-instance.ts";
import {
  ANNOUNCED_OWNER,
  type AnnouncementBook,
  announcedInstances,
  MAX_ANNOUNCEMENTS,
} from "./announcement-book.ts";

export interface AnnouncementsOptions {
  readonly store: GlobalStore;
  readonly log: Log;
  /** Of a clock that never goes back. */
  readonly nowMs: () => number;
  /** What was announced when this program last ran: each has its time from now on. */
  readonly before: readonly AnnounceRequest[];
  /** Keeps what is announced; missing: it is forgotten with the program. */
  readonly keep?: (all: readonly AnnounceRequest[]) => Promise<void>;
}

interface Held {
  readonly request: AnnounceRequest;
  readonly endsMs: number;
}

/** What instances of services say of themselves, for as long as they go on saying it. */
export class Announcements implements AnnouncementBook {
  readonly #options: AnnouncementsOptions;
  /** By the key of the endpoint. */
  readonly #held = new Map<string, Held>();
  readonly #keeper: NewestKeeper | undefined;
  #timer: NodeJS.Timeout | undefined;
  #nextMs = Number.POSITIVE_INFINITY;
  #expired = 0;

  constructor(options: AnnouncementsOptions) {
    this.#options = options;
    const { keep } = options;
    this.#keeper = keep && new NewestKeeper({ write: () => this.#keepAll(keep) });
    for (const request of options.before) {
      try {
        // It is kept already: what is held by now is only a part of that.
        this.#hold(request);
      } catch (error) {
        options.log.warn({ service: request.service }, `not announced again: ${messageOf(error)}`);
      }
    }
  }

  /** @throws CoreError ERR_KEY_TAKEN, ERR_EXHAUSTED */
  announce(request: AnnounceRequest): void {
    if (this.#hold(request)) this.#keeper?.changed();
  }

  /** @returns whether it was there, and of that announcer */
  withdraw({ id, ...place }: WithdrawRequest): boolean {
    const key = keyOf(
      announcedEndpoint({ ...place, servicePort: "", zone: "", node: "", weight: 0 }),
    );
    if (this.#held.get(key)?.request.id !== id) return false;
    this.#drop([key]);
    return true;
  }

  metrics(): readonly MetricFamily[] {
    return [
      announcedInstances(this.#held.size),
      {
        name: "announcements_expired_total",
        help: "Instances that were not announced again in time",
        kind: "counter",
        samples: [{ labels: {}, value: this.#expired }],
      },
    ];
  }

  /** Settles when all of it is kept, or could not be. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#keeper?.close();
  }

  /** @returns whether that is anything new */
  #hold(request: AnnounceRequest): boolean {
    const { store, nowMs } = this.#options;
    const endpoint = announcedEndpoint(request);
    const key = keyOf(endpoint);
    if (!this.#held.has(key) && this.#held.size >= MAX_ANNOUNCEMENTS) {
      throw new CoreError(
        "ERR_EXHAUSTED",
        `${MAX_ANNOUNCEMENTS} instances are announced already; expected fewer`,
      );
    }
    const commit = store.transact(ANNOUNCED_OWNER, (transaction) => transaction.set(endpoint));
    const isOther = this.#held.get(key)?.request.id !== request.id;
    const endsMs = nowMs() + request.ttlMs;
    this.#held.set(key, { request, endsMs });
    this.#lookAt(endsMs);
    return isOther || commit.changes.length > 0;
  }

  #drop(keys: readonly string[]): void {
    for (const key of keys) this.#held.delete(key);
    this.#options.store.transact(ANNOUNCED_OWNER, (transaction) => {
      for (const key of keys) transaction.delete("Endpoint", key);
    });
    this.#keeper?.changed();
  }

  #expire(): void {
    const now = this.#options.nowMs();
    this.#nextMs = Number.POSITIVE_INFINITY;
    const over = [...this.#held].flatMap(([key, { endsMs }]) => (endsMs <= now ? [key] : []));
    if (over.length > 0) {
      this.#expired += over.length;
      this.#options.log.info({ endpoints: over.slice(0, 10) }, "not announced again in time");
      this.#drop(over);
    }
    let firstMs = Number.POSITIVE_INFINITY;
    for (const { endsMs } of this.#held.values()) firstMs = Math.min(firstMs, endsMs);
    this.#lookAt(firstMs);
  }

  /** Those that are announced again end later: they are looked at only when the time has come. */
  #lookAt(endsMs: number): void {
    if (endsMs >= this.#nextMs) return;
    clearTimeout(this.#timer);
    this.#nextMs = endsMs;
    const waitMs = Math.max(0, Math.ceil(endsMs - this.#options.nowMs()));
    this.#timer = setTimeout(() => this.#expire(), waitMs);
    this.#timer.unref();
  }

  async #keepAll(keep: NonNullable<AnnouncementsOptions["keep"]>): Promise<void> {
    try {
      await keep([...this.#held.values()].map(({ request }) => request));
    } catch (error) {
      const why = messageOf(error);
      this.#options.log.error({ err: error }, `what is announced can not be kept: ${why}`);
    }
  }
}
