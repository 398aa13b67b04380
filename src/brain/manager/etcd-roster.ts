import type { CoreError } from "../../core/errors.ts";
import type { EtcdClient } from "../../engines/etcd/etcd-client.ts";
import { followRange, type RangeFollower } from "../../engines/etcd/follow-range.ts";
import { Lease } from "../../engines/etcd/lease.ts";
import { prefixRange } from "../../engines/etcd/prefix-range.ts";
import type { KeyValue } from "../../wire/etcd/kv-messages.ts";
import type { WatchEvent } from "../../wire/etcd/watch-messages.ts";

const TTL_SECONDS = 10;
const RETRY_MS = 1000;

/** The managers of an etcd, each by where nodes reach it: what one of them tells its nodes of the others. */
export class EtcdRoster implements RangeFollower {
  readonly #client: EtcdClient;
  readonly #prefix: string;
  readonly #names = new Set<string>();
  #lease: Lease | undefined;
  #isClosed = false;

  constructor(client: EtcdClient, prefix: string) {
    this.#client = client;
    this.#prefix = `${prefix}v1/manager/managers/`;
    void followRange(client, prefixRange(this.#prefix), this);
  }

  /** `HOST:PORT` of those that are there now. */
  get managers(): readonly string[] {
    return [...this.#names].sort();
  }

  /** Is among them from now on, until the end. */
  async enter(address: string): Promise<void> {
    while (!this.#isClosed) {
      try {
        const lease = await Lease.grant(this.#client, TTL_SECONDS);
        this.#lease = lease;
        const key = Buffer.from(`${this.#prefix}${address}`);
        const put = { op: "put", key, value: Buffer.from("1"), lease: lease.id } as const;
        await this.#client.transact([], [put]);
        await lease.lost;
      } catch {
        // What ails etcd is told by the ledger, which follows it in the same way.
        await this.#client.sleep(RETRY_MS).catch(() => undefined);
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#lease?.revoke().catch(() => undefined);
  }

  begin(): void {
    this.#names.clear();
  }

  page(kvs: readonly KeyValue[]): void {
    for (const { key } of kvs) this.#names.add(key.slice(this.#prefix.length));
  }

  whole(_revision: number): void {}

  changed(events: readonly WatchEvent[]): void {
    for (const { type, kv } of events) {
      const name = kv.key.slice(this.#prefix.length);
      if (type === "put") this.#names.add(name);
      else this.#names.delete(name);
    }
  }

  following(_member: string): void {}

  failed(_error: CoreError): void {}
}
