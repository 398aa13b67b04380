import { CoreError } from "../../core/errors.ts";
import type { EtcdClient } from "./etcd-client.ts";

const MS_PER_SECOND = 1000;
/** It is renewed so often within its time: one renewal may fail. */
const RENEWALS = 3;
/** Where etcd refuses a renewal for now. */
const RETRY_MS = 200;
/** Who ends does not want to wait long. */
const REVOKE_MS = 3000;

/** A lease that is kept alive: what is bound to it is there for as long as its owner is. */
export class Lease {
  readonly id: bigint;
  readonly ttlSeconds: number;
  /** Only ever rejects: with ERR_LEASE_LOST where it could not be renewed in time. */
  readonly lost: Promise<never>;
  readonly #client: EtcdClient;
  readonly #ended = new AbortController();

  /** @throws CoreError as the calls of the client do */
  static async grant(client: EtcdClient, ttlSeconds: number): Promise<Lease> {
    const askedMs = performance.now();
    const { id, ttlSeconds: granted } = await client.grantLease(ttlSeconds);
    return new Lease(client, id, granted, askedMs);
  }

  private constructor(client: EtcdClient, id: bigint, ttlSeconds: number, sinceMs: number) {
    this.#client = client;
    this.id = id;
    this.ttlSeconds = ttlSeconds;
    this.lost = this.#keep(sinceMs);
    // Not everyone asks.
    this.lost.catch(() => undefined);
  }

  /** Ends it, and with it what is bound to it; where etcd does not answer, it ends by itself. */
  async revoke(): Promise<void> {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    await this.#client.revokeLease(this.id, REVOKE_MS);
  }

  /** Renews it no more: what is bound to it is there until its time is over. */
  abandon(): void {
    this.#ended.abort();
  }

  async #keep(sinceMs: number): Promise<never> {
    const ttlMs = this.ttlSeconds * MS_PER_SECOND;
    const everyMs = ttlMs / RENEWALS;
    let renewedMs = sinceMs;
    let waitMs = Math.max(0, sinceMs + everyMs - performance.now());
    for (;;) {
      await this.#client.sleep(waitMs);
      this.#assertKept();
      const askedMs = performance.now();
      const leftMs = Math.ceil(renewedMs + ttlMs - askedMs);
      if (leftMs <= 0) throw this.#lostBecause("etcd did not answer in time");
      const renewed = await this.#client.renewLease(this.id, leftMs).catch(() => undefined);
      this.#assertKept();
      if (renewed !== undefined && renewed.ttlSeconds <= 0) {
        throw this.#lostBecause("etcd has ended it");
      }
      if (renewed !== undefined) renewedMs = askedMs;
      waitMs = renewed === undefined ? RETRY_MS : everyMs;
    }
  }

  #assertKept(): void {
    if (this.#ended.signal.aborted) throw new CoreError("ERR_ABORTED", "the lease was ended");
  }

  #lostBecause(reason: string): CoreError {
    return new CoreError("ERR_LEASE_LOST", `the lease ${this.id.toString(16)} is lost: ${reason}`);
  }
}
