import { keyOf, type ModelObject } from "../../src/core/model/object.ts";
import type { EtcdClient } from "../../src/engines/etcd/etcd-client.ts";
import { listRange } from "../../src/engines/etcd/list-range.ts";
import { prefixRange } from "../../src/engines/etcd/prefix-range.ts";
import { objectsPrefix, readStored, storedKey } from "../../src/sources/etcd/stored-object.ts";
import type { EtcdCluster, EtcdMember } from "../support/etcd.ts";
import { sampleEndpoint } from "../support/samples.ts";
import { PREFIX, put } from "./etcd-followed.ts";

const ENDPOINTS = 40;
const MAX_BYTES = 100_000;

function endpointOf(index: number, weight: number) {
  return sampleEndpoint({ group: "web", addresses: [`10.9.0.${index}`], weight });
}

/** Things that happen to an etcd of several members, by chance; one of them at most is away at a time. */
export class EtcdHistory {
  readonly #etcd: EtcdCluster;
  readonly #client: EtcdClient;
  readonly #random: () => number;
  #away: { readonly member: EtcdMember; back(): Promise<void> | void } | undefined;
  #weight = 1;

  constructor(etcd: EtcdCluster, client: EtcdClient, random: () => number) {
    this.#etcd = etcd;
    this.#client = client;
    this.#random = random;
  }

  /** One more thing. */
  async step(): Promise<string> {
    const dice = this.#random();
    if (dice < 0.55) return this.#write(1);
    if (dice < 0.75) return this.#write(1 + this.#below(20));
    if (dice < 0.8) return this.#putBad();
    if (dice < 0.87) return this.#leaseThatEnds();
    if (dice < 0.93) return this.#compact();
    return this.#away === undefined ? this.#takeAway() : this.#bringBack();
  }

  /** Everyone is there again. */
  async settle(): Promise<void> {
    await this.#away?.back();
    this.#away = undefined;
  }

  /** What etcd has that is good, by key. */
  async contents(): Promise<ReadonlyMap<string, ModelObject>> {
    const found = new Map<string, ModelObject>();
    await listRange(this.#client, prefixRange(objectsPrefix(PREFIX)), (kvs) => {
      for (const kv of kvs) {
        const stored = readStored(PREFIX, kv, MAX_BYTES);
        if (stored.ok) found.set(`${stored.object.kind} ${keyOf(stored.object)}`, stored.object);
      }
    });
    return found;
  }

  async #write(count: number): Promise<string> {
    const indexes = new Set(Array.from({ length: count }, () => this.#below(ENDPOINTS)));
    const ops = [...indexes].map((index) => {
      this.#weight += 1;
      const op = put(endpointOf(index, this.#weight));
      return this.#random() < 0.3 ? ({ op: "delete", key: op.key } as const) : op;
    });
    await this.#client.transact([], ops);
    return `write ${ops.length}`;
  }

  /** At keys where never anything good is. */
  async #putBad(): Promise<string> {
    const key = Buffer.from(storedKey(PREFIX, "Endpoint", `default/bad/${this.#below(5)}`));
    await this.#client.transact([], [{ op: "put", key, value: Buffer.from("{"), lease: 0n }]);
    return "bad";
  }

  async #leaseThatEnds(): Promise<string> {
    const { id } = await this.#client.grantLease(60);
    await this.#client.transact([], [put(endpointOf(this.#below(ENDPOINTS), 1), id)]);
    await this.#client.revokeLease(id, 5000);
    return "lease";
  }

  async #compact(): Promise<string> {
    const { header } = await this.#client.range({ key: Buffer.from("/") });
    await this.#etcd.ctl("compact", String(header.revision)).catch(() => undefined);
    return `compact ${header.revision}`;
  }

  async #takeAway(): Promise<string> {
    const member = this.#etcd.members[this.#below(this.#etcd.members.length)];
    if (member === undefined) return "nobody";
    if (this.#random() < 0.5) {
      member.freeze();
      this.#away = { member, back: () => member.thaw() };
      return `freeze ${member.address}`;
    }
    await member.kill();
    this.#away = { member, back: () => member.start() };
    return `kill ${member.address}`;
  }

  async #bringBack(): Promise<string> {
    const { address } = this.#away?.member ?? {};
    await this.settle();
    return `back ${address}`;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}
