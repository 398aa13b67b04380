import type { CoreError } from "../../core/errors.ts";
import type { EtcdClient } from "../../engines/etcd/etcd-client.ts";
import { followRange, type RangeFollower } from "../../engines/etcd/follow-range.ts";
import { prefixRange } from "../../engines/etcd/prefix-range.ts";
import type { KeyValue } from "../../wire/etcd/kv-messages.ts";
import type { WatchEvent } from "../../wire/etcd/watch-messages.ts";
import { FIRST_RENEWAL, type Pulse } from "./ledger.ts";
import { Milestones } from "./milestones.ts";

const MS_PER_SECOND = 1000;
/** etcd gives no shorter leases. */
const MIN_TTL_SECONDS = 2;
/** What is kept of a node; the lease of one that has joined is longer, and its first renewal makes another. */
const ALIVE = "1";
const JOINED = "joined";

/**
 * Who is alive, where there are several managers: each node has a lease, which whichever manager it asks renews.
 * While etcd can not be reached nobody dies.
 */
export class EtcdPulse implements Pulse, RangeFollower {
  readonly #client: EtcdClient;
  readonly #prefix: string;
  readonly #ttlSeconds: number;
  readonly #seen = new Milestones();
  #leases = new Map<string, NodeLease>();
  #coming = new Map<string, NodeLease>();
  #onChange: (node: string) => void = () => undefined;

  /** @throws CoreError ERR_ETCD_UNREACHABLE */
  static async open(client: EtcdClient, prefix: string, timeoutMs: number): Promise<EtcdPulse> {
    const pulse = new EtcdPulse(client, `${prefix}v1/manager/alive/`, timeoutMs);
    await pulse.#seen.reach(1);
    return pulse;
  }

  private constructor(client: EtcdClient, prefix: string, timeoutMs: number) {
    this.#client = client;
    this.#prefix = prefix;
    // A lease ends up to a second late.
    this.#ttlSeconds = Math.max(MIN_TTL_SECONDS, Math.floor(timeoutMs / MS_PER_SECOND) - 1);
    void followRange(client, prefixRange(prefix), this);
  }

  follow(onChange: (node: string) => void): void {
    this.#onChange = onChange;
  }

  isAlive(node: string): boolean {
    return this.#leases.has(node);
  }

  welcome(node: string): Promise<void> {
    return this.#put(node, JOINED, FIRST_RENEWAL * this.#ttlSeconds);
  }

  async renew(node: string): Promise<void> {
    const held = this.#leases.get(node);
    if (held !== undefined && !held.isFirst) {
      const timeoutMs = this.#ttlSeconds * MS_PER_SECOND;
      const { ttlSeconds } = await this.#client.renewLease(held.id, timeoutMs);
      if (ttlSeconds > 0) return;
    }
    await this.#put(node, ALIVE, this.#ttlSeconds);
  }

  async #put(node: string, value: string, ttlSeconds: number): Promise<void> {
    const { id: lease } = await this.#client.grantLease(ttlSeconds);
    const key = this.#keyOf(node);
    const { header } = await this.#client.transact(
      [],
      [{ op: "put", key, value: Buffer.from(value), lease }],
    );
    await this.#seen.reach(header.revision);
  }

  async forget(node: string): Promise<void> {
    await this.#client.transact([], [{ op: "delete", key: this.#keyOf(node) }]);
  }

  close(): void {
    this.#seen.close();
  }

  begin(): void {
    this.#coming = new Map();
  }

  page(kvs: readonly KeyValue[]): void {
    for (const kv of kvs) this.#coming.set(this.#nodeOf(kv.key), leaseOf(kv));
  }

  whole(revision: number): void {
    const before = this.#leases;
    this.#leases = this.#coming;
    for (const node of new Set([...before.keys(), ...this.#leases.keys()])) {
      if (before.has(node) !== this.#leases.has(node)) this.#onChange(node);
    }
    this.#seen.passed(Math.max(1, revision));
  }

  changed(events: readonly WatchEvent[], revision: number): void {
    for (const { type, kv } of events) {
      const node = this.#nodeOf(kv.key);
      const wasAlive = this.#leases.has(node);
      if (type === "put") this.#leases.set(node, leaseOf(kv));
      else this.#leases.delete(node);
      if (wasAlive !== this.#leases.has(node)) this.#onChange(node);
    }
    this.#seen.passed(revision);
  }

  following(_member: string): void {}

  /** The ledger, which is followed in the same way, tells it. */
  failed(_error: CoreError): void {}

  #keyOf(node: string): Buffer {
    return Buffer.from(`${this.#prefix}${node}`);
  }

  #nodeOf(key: string): string {
    return key.slice(this.#prefix.length);
  }
}

interface NodeLease {
  readonly id: bigint;
  /** Whether the node has not renewed yet. */
  readonly isFirst: boolean;
}

function leaseOf({ lease, value }: KeyValue): NodeLease {
  return { id: lease, isFirst: Buffer.from(value).toString() === JOINED };
}
