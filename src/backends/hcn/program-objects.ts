import type { Endpoint } from "../../platform/windows/endpoint.ts";
import { isOwnGuid } from "../../platform/windows/guid.ts";
import type { Hcn } from "../../platform/windows/hcn.ts";
import { failureOf } from "../../platform/windows/hcn-failure.ts";
import type { LoadBalancer } from "../../platform/windows/load-balancer.ts";
import type { ObjectChange, ObjectStore } from "./object-store.ts";
import type { HcnStores } from "./stores.ts";

export interface ProgramOptions {
  readonly hcn: Hcn;
  readonly stores: HcnStores;
  /** Whether load balancers change in place. */
  readonly canModify: boolean;
}

/**
 * Makes HNS hold what the stores want: endpoints come before the load balancers that send to them, and go
 * after them. What is refused holds up nobody else; what is known after each call is kept, so the next call
 * goes on from there.
 * @returns what failed
 * @throws CoreError where HNS does not answer at all
 */
export async function programHostComputeObjects(
  options: ProgramOptions,
): Promise<readonly unknown[]> {
  const program = new Program(options);
  await program.run();
  return program.failures;
}

class Program {
  readonly failures: unknown[] = [];
  readonly #hcn: Hcn;
  readonly #stores: HcnStores;
  readonly #canModify: boolean;

  constructor({ hcn, stores, canModify }: ProgramOptions) {
    this.#hcn = hcn;
    this.#stores = stores;
    this.#canModify = canModify;
  }

  async run(): Promise<void> {
    const { endpointStore, loadBalancerStore } = this.#stores;
    await this.#lookUp(endpointStore, (id) => this.#hcn.endpoint(id));
    await this.#lookUp(loadBalancerStore, (id) => this.#hcn.loadBalancer(id));
    for (const change of endpointStore.changes()) await this.#makeEndpoint(change);
    for (const change of loadBalancerStore.changes()) await this.#makeLoadBalancer(change);
    for (const { id, wanted } of loadBalancerStore.changes()) {
      if (wanted === undefined) await this.#deleteLoadBalancer(id);
    }
    // Nobody knows what a load balancer sends to while a call about it is in doubt.
    if (loadBalancerStore.hasUncertain) return;
    for (const { id, wanted } of endpointStore.changes()) {
      if (wanted === undefined && !this.#stores.isReferenced(id)) await this.#deleteEndpoint(id);
    }
  }

  /** Asks for what a failed call left in doubt. */
  async #lookUp<V extends object>(
    store: ObjectStore<V>,
    find: (id: string) => Promise<V | undefined>,
  ): Promise<void> {
    for (const { id } of store.changes()) {
      if (!store.isUncertain(id)) continue;
      await this.#attempt(async () => store.setKnown(id, await find(id)));
    }
  }

  async #makeEndpoint({ id, wanted, known }: ObjectChange<Endpoint>): Promise<void> {
    const { endpointStore } = this.#stores;
    if (wanted === undefined || endpointStore.isUncertain(id)) return;
    if (known !== undefined) {
      // It can not be changed in place: who sends to it goes first, and comes back after it.
      for (const balancer of this.#stores.referencesTo(id))
        await this.#deleteLoadBalancer(balancer);
      if (this.#stores.isReferenced(id)) return;
      await this.#deleteEndpoint(id);
      if (endpointStore.known(id) !== undefined) return;
    }
    await this.#change(endpointStore, id, wanted, () => this.#hcn.createEndpoint(wanted));
  }

  async #makeLoadBalancer({ id, wanted, known }: ObjectChange<LoadBalancer>): Promise<void> {
    const { loadBalancerStore } = this.#stores;
    if (wanted === undefined || loadBalancerStore.isUncertain(id)) return;
    // What could not be made is told already; as it was, it serves meanwhile.
    if (!wanted.endpoints.every((endpoint) => this.#isThere(endpoint))) return;
    if (known !== undefined && this.#canModify) {
      return this.#change(loadBalancerStore, id, wanted, () =>
        this.#hcn.modifyLoadBalancer(wanted),
      );
    }
    if (known !== undefined) {
      await this.#deleteLoadBalancer(id);
      if (loadBalancerStore.known(id) !== undefined) return;
    }
    await this.#change(loadBalancerStore, id, wanted, () => this.#hcn.createLoadBalancer(wanted));
  }

  /** Those of others were seen when they were read. */
  #isThere(endpoint: string): boolean {
    return !isOwnGuid(endpoint) || this.#stores.endpointStore.known(endpoint) !== undefined;
  }

  #deleteLoadBalancer(id: string): Promise<void> {
    const { loadBalancerStore } = this.#stores;
    return this.#change(loadBalancerStore, id, undefined, () => this.#hcn.deleteLoadBalancer(id));
  }

  #deleteEndpoint(id: string): Promise<void> {
    const { endpointStore } = this.#stores;
    return this.#change(endpointStore, id, undefined, () => this.#hcn.deleteEndpoint(id));
  }

  async #change<V extends object>(
    store: ObjectStore<V>,
    id: string,
    after: V | undefined,
    act: () => Promise<void>,
  ): Promise<void> {
    await this.#attempt(async () => {
      try {
        await act();
      } catch (error) {
        store.setUncertain(id);
        throw error;
      }
      store.setKnown(id, after);
    });
  }

  async #attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (failureOf(error)?.kind === "service-down") throw error;
      this.failures.push(error);
    }
  }
}
