import type { Endpoint } from "../../src/core/model/endpoint.ts";
import { keyOf } from "../../src/core/model/object.ts";
import type { Service } from "../../src/core/model/service.ts";
import type { GlobalStore } from "../../src/core/store/global-store.ts";
import { seededRandom } from "../support/seeded-random.ts";

/** A service whose endpoints come and go; one of this node's always stays. */
export interface ChurnedService {
  readonly service: Service;
  /** All that it ever has; in the beginning all are there. */
  readonly endpoints: readonly { readonly endpoint: Endpoint; readonly isLocal: boolean }[];
}

export interface ChurnPlan {
  readonly seed: number;
  readonly durationMs: number;
  /** Goes on for longer where a busy machine made fewer. */
  readonly leastSyncs: number;
  /** Of endpoints; those that are due when a sync is over are made together. */
  readonly changesPerSecond: number;
  readonly services: readonly ChurnedService[];
}

/** A sync, on a clock that all processes of the machine share. */
export interface ChurnSync {
  readonly beganNs: bigint;
  readonly endedNs: bigint;
  /** Keys of endpoints. */
  readonly came: readonly string[];
  readonly went: readonly string[];
}

export interface ChurnReport {
  /** Of endpoints. */
  readonly changes: number;
  /** Up to when the last of them was made. */
  readonly elapsedMs: number;
  readonly syncs: readonly ChurnSync[];
}

/** In a hundred changes of endpoints, so many of a service's affinity. */
const AFFINITY_PERCENT = 2;
const AFFINITY_SECONDS = 60;
const MS_PER_SECOND = 1000;

/**
 * Changes endpoints in a store, whatever that takes, at the rate that is wanted.
 * @param sync makes the data plane follow
 */
export async function churnEndpoints(
  plan: ChurnPlan,
  store: GlobalStore,
  owner: string,
  sync: () => Promise<void>,
): Promise<ChurnReport> {
  const { changesPerSecond, durationMs, leastSyncs } = plan;
  const churn = new Churn(plan);
  const syncs: ChurnSync[] = [];
  const began = performance.now();
  let changes = 0;
  let elapsedMs = 0;
  while (elapsedMs < durationMs || syncs.length < leastSyncs) {
    elapsedMs = performance.now() - began;
    const due = Math.max(1, Math.floor((elapsedMs / MS_PER_SECOND) * changesPerSecond) - changes);
    const before = churn.present();
    const beganNs = process.hrtime.bigint();
    churn.change(due, store, owner);
    changes += due;
    await sync();
    const endedNs = process.hrtime.bigint();
    const now = churn.present();
    const came = [...now].filter((key) => !before.has(key));
    const went = [...before].filter((key) => !now.has(key));
    syncs.push({ beganNs, endedNs, came, went });
  }
  return { changes, elapsedMs, syncs };
}

class Churn {
  readonly #random: () => number;
  readonly #services: readonly ChurnedService[];
  readonly #present: Set<string>;
  readonly #sticky = new Set<Service>();

  constructor({ seed, services }: ChurnPlan) {
    this.#random = seededRandom(seed);
    this.#services = services;
    this.#present = new Set(
      services.flatMap(({ endpoints }) => endpoints.map(({ endpoint }) => keyOf(endpoint))),
    );
  }

  /** Keys of the endpoints that are there. */
  present(): ReadonlySet<string> {
    return new Set(this.#present);
  }

  change(count: number, store: GlobalStore, owner: string): void {
    store.transact(owner, (transaction) => {
      for (let made = 0; made < count; ) {
        const churned = this.#pick(this.#services);
        if (this.#random() * 100 < AFFINITY_PERCENT) {
          transaction.set(this.#toggleAffinity(churned.service));
          continue;
        }
        const { endpoint } = this.#pick(churned.endpoints);
        const key = keyOf(endpoint);
        if (!this.#present.has(key)) {
          this.#present.add(key);
          transaction.set(endpoint);
        } else if (this.#mayGo(key, churned)) {
          this.#present.delete(key);
          transaction.delete("Endpoint", key);
        } else continue;
        made += 1;
      }
    });
  }

  #mayGo(key: string, { endpoints }: ChurnedService): boolean {
    return endpoints.some(({ endpoint, isLocal }) => {
      const other = keyOf(endpoint);
      return isLocal && other !== key && this.#present.has(other);
    });
  }

  #toggleAffinity(service: Service): Service {
    if (this.#sticky.delete(service)) return service;
    this.#sticky.add(service);
    return { ...service, affinitySeconds: AFFINITY_SECONDS };
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.#random() * items.length)];
    if (item === undefined) throw new Error("nothing to choose from");
    return item;
  }
}
