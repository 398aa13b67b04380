import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import { deepEqual } from "../../core/model/equal.ts";
import { keyOf } from "../../core/model/object.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import type { EtcdClient } from "../../engines/etcd/etcd-client.ts";
import { followRange, type RangeFollower } from "../../engines/etcd/follow-range.ts";
import { prefixRange } from "../../engines/etcd/prefix-range.ts";
import type { KeyValue } from "../../wire/etcd/kv-messages.ts";
import type { WatchEvent } from "../../wire/etcd/watch-messages.ts";
import { Milestones } from "../manager/milestones.ts";
import {
  type AnnounceRequest,
  announcedEndpoint,
  announceSchema,
  type WithdrawRequest,
} from "./announced-instance.ts";
import {
  ANNOUNCED_OWNER,
  type AnnouncementBook,
  announcedInstances,
  MAX_ANNOUNCEMENTS,
} from "./announcement-book.ts";

const MS_PER_SECOND = 1000;
/** etcd gives no shorter leases. */
const MIN_TTL_SECONDS = 2;

interface Held {
  readonly request: AnnounceRequest;
  readonly lease: bigint;
}

/**
 * What instances of services say of themselves, where there are several managers: each announcement has a lease,
 * which whichever manager it is said to renews, and all managers know of it. While etcd can not be reached nothing
 * goes and nothing new is taken.
 */
export class EtcdAnnouncements implements AnnouncementBook, RangeFollower {
  readonly #client: EtcdClient;
  readonly #prefix: string;
  readonly #store: GlobalStore;
  readonly #log: Log;
  readonly #seen = new Milestones();
  /** By the key of the endpoint. */
  #held = new Map<string, Held>();
  #coming = new Map<string, Held>();

  /** @throws CoreError ERR_ETCD_UNREACHABLE */
  static async open(
    client: EtcdClient,
    prefix: string,
    { store, log }: { readonly store: GlobalStore; readonly log: Log },
  ): Promise<EtcdAnnouncements> {
    const announcements = new EtcdAnnouncements(client, prefix, store, log);
    await announcements.#seen.reach(1);
    return announcements;
  }

  private constructor(client: EtcdClient, prefix: string, store: GlobalStore, log: Log) {
    this.#client = client;
    this.#prefix = `${prefix}v1/manager/announced/`;
    this.#store = store;
    this.#log = log;
    void followRange(client, prefixRange(this.#prefix), this);
  }

  async announce(request: AnnounceRequest): Promise<void> {
    const key = keyOf(announcedEndpoint(request));
    this.#assertMayHave(key);
    const held = this.#held.get(key);
    if (held !== undefined && deepEqual(held.request, request)) {
      const { ttlSeconds } = await this.#client.renewLease(held.lease, request.ttlMs);
      if (ttlSeconds > 0) return;
    }
    const seconds = Math.ceil(request.ttlMs / MS_PER_SECOND);
    const { id: lease } = await this.#client.grantLease(Math.max(MIN_TTL_SECONDS, seconds));
    const value = Buffer.from(JSON.stringify(request));
    const put = { op: "put", key: this.#keyIn(key), value, lease } as const;
    const { header } = await this.#client.transact([], [put]);
    await this.#seen.reach(header.revision);
  }

  async withdraw({ id, ...place }: WithdrawRequest): Promise<boolean> {
    const unsaid = { servicePort: "", zone: "", node: "", weight: 0 };
    const key = this.#keyIn(keyOf(announcedEndpoint({ ...place, ...unsaid })));
    // Asked of etcd: another manager may have taken it a moment ago.
    const [kv] = (await this.#client.range({ key })).kvs;
    if (kv === undefined || this.#read(kv)?.request.id !== id) return false;
    const { succeeded, header } = await this.#client.transact(
      [{ what: "unchanged", key, modRevision: kv.modRevision }],
      [{ op: "delete", key }],
    );
    if (succeeded) await this.#seen.reach(header.revision);
    return succeeded;
  }

  metrics(): readonly MetricFamily[] {
    return [announcedInstances(this.#held.size)];
  }

  async close(): Promise<void> {
    this.#seen.close();
  }

  begin(): void {
    this.#coming = new Map();
  }

  page(kvs: readonly KeyValue[]): void {
    for (const kv of kvs) this.#put(this.#coming, kv);
  }

  whole(revision: number): void {
    const before = this.#held;
    this.#held = this.#coming;
    this.#publish(new Set([...before.keys(), ...this.#held.keys()]));
    this.#seen.passed(Math.max(1, revision));
  }

  changed(events: readonly WatchEvent[], revision: number): void {
    const keys = events.map(({ type, kv }) => {
      if (type === "put") return this.#put(this.#held, kv);
      const key = kv.key.slice(this.#prefix.length);
      this.#held.delete(key);
      return key;
    });
    this.#publish(new Set(keys));
    this.#seen.passed(revision);
  }

  following(_member: string): void {}

  /** The ledger, which is followed in the same way, tells it. */
  failed(_error: CoreError): void {}

  #publish(keys: ReadonlySet<string>): void {
    const { refused } = this.#store.transactFitting(ANNOUNCED_OWNER, (transaction) => {
      for (const key of keys) {
        const held = this.#held.get(key);
        if (held === undefined) transaction.delete("Endpoint", key);
        else transaction.set(announcedEndpoint(held.request));
      }
    });
    for (const { kind, key, what, heldBy } of refused) {
      this.#log.warn({ object: `${kind} ${key}` }, `${what} is held by ${heldBy}: it is left out`);
    }
  }

  #assertMayHave(key: string): void {
    const owner = this.#store.ownerOf("Endpoint", key);
    if (owner !== undefined && owner !== ANNOUNCED_OWNER && !this.#store.isOrdered) {
      throw new CoreError(
        "ERR_KEY_TAKEN",
        `Endpoint ${key} is of ${owner}; expected none, or one that was announced`,
      );
    }
    if (this.#held.has(key) || this.#held.size < MAX_ANNOUNCEMENTS) return;
    throw new CoreError(
      "ERR_EXHAUSTED",
      `${MAX_ANNOUNCEMENTS} instances are announced already; expected fewer`,
    );
  }

  /** @returns the key of the endpoint */
  #put(held: Map<string, Held>, kv: KeyValue): string {
    const key = kv.key.slice(this.#prefix.length);
    const read = this.#read(kv);
    const isRight = read !== undefined && keyOf(announcedEndpoint(read.request)) === key;
    if (isRight) held.set(key, read);
    else {
      held.delete(key);
      this.#log.warn({ key: kv.key }, "it is no announcement: it is left out");
    }
    return key;
  }

  #read({ value, lease }: KeyValue): Held | undefined {
    try {
      const raw: unknown = JSON.parse(Buffer.from(value).toString());
      return { request: announceSchema.parse(raw), lease };
    } catch {
      return undefined;
    }
  }

  #keyIn(key: string): Buffer {
    return Buffer.from(`${this.#prefix}${key}`);
  }
}
