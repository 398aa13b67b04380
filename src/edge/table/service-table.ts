import { CoreError } from "../../core/errors.ts";
import { familyOf } from "../../core/model/address.ts";
import type { EdgeAddress } from "../../core/model/service.ts";
import { type EdgeInstance, LiveInstance } from "./live-instance.ts";
import { meaningOfName, serviceAddresses } from "./name-meaning.ts";
import { pickClosest, pickInTurn } from "./pick-instance.ts";

/** A service of the overlay: its names, its addresses with what they mean, and who serves it. */
export interface EdgeService {
  readonly key: string;
  /** Without a dot at the end. */
  readonly names: readonly string[];
  readonly addresses: readonly EdgeAddress[];
  readonly instances: readonly EdgeInstance[];
}

/** What only a running node knows. */
export interface Observed {
  /** Smoothed; 0 for this node itself, undefined where it is not known. */
  roundTripMs(node: string): number | undefined;
}

interface Entry {
  readonly service: EdgeService;
  readonly instances: readonly LiveInstance[];
}

interface AddressEntry {
  readonly address: EdgeAddress;
  readonly key: string;
}

/**
 * Which addresses a name has, and which instance an address means: one table for both. An
 * instance that stays as it was is the same object after a change, so what holds to it goes on.
 */
export class ServiceTable {
  readonly #entries = new Map<string, Entry>();
  readonly #addresses = new Map<string, AddressEntry>();
  readonly #names = new Map<string, string>();
  readonly #instances = new Map<string, LiveInstance>();

  get size(): number {
    return this.#entries.size;
  }

  services(): readonly EdgeService[] {
    return [...this.#entries.values()].map(({ service }) => service);
  }

  /**
   * Adds a service, or puts it in the place of what it was.
   * @throws CoreError ERR_ADDRESS_TAKEN where an address or a name is another service's
   */
  set(service: EdgeService): void {
    this.#refuseTaken(service);
    const before = this.#entries.get(service.key);
    this.#forget(before);
    const kept = new Set<LiveInstance>();
    const instances = service.instances.map((instance) => {
      const same = before?.instances.find((old) => !kept.has(old) && old.isStill(instance));
      const live = same ?? new LiveInstance(service.key, instance);
      live.update(instance);
      kept.add(live);
      return live;
    });
    for (const old of before?.instances ?? []) old.isGone = !kept.has(old);
    this.#entries.set(service.key, { service, instances });
    for (const address of service.addresses) {
      this.#addresses.set(address.address, { address, key: service.key });
    }
    for (const name of service.names) this.#names.set(name.toLowerCase(), service.key);
    for (const live of instances) for (const ip of live.addresses) this.#instances.set(ip, live);
  }

  /** Several at once: what one of them has now may have been another one's before. */
  setAll(services: readonly EdgeService[]): void {
    for (const service of services) {
      const there = this.#entries.get(service.key);
      if (there !== undefined) this.#forget(there);
    }
    for (const service of services) this.set(service);
  }

  /** Succeeds where it is not there. */
  delete(key: string): void {
    const entry = this.#entries.get(key);
    this.#forget(entry);
    for (const instance of entry?.instances ?? []) instance.isGone = true;
    this.#entries.delete(key);
  }

  has(ip: string): boolean {
    return this.#addresses.has(ip);
  }

  /**
   * Who shall serve a new flow to an address; undefined where nobody can.
   * @param canServe of the instances that are there, those that count
   */
  pick(
    ip: string,
    observed: Observed,
    canServe: (instance: LiveInstance) => boolean = () => true,
  ): LiveInstance | undefined {
    const found = this.#addresses.get(ip);
    const all = found && this.#entries.get(found.key)?.instances;
    if (all === undefined) return undefined;
    const isV6 = familyOf(ip) === "v6";
    const usable = all.filter(
      (instance) => instance.addressOf(isV6) !== undefined && canServe(instance),
    );
    switch (found?.address.policy) {
      case "round-robin":
        return pickInTurn(usable, "round-robin");
      case "closest":
        return pickClosest(usable, (node) => observed.roundTripMs(node));
      case "instance":
        return usable.find(({ number }) => number === found.address.instance);
    }
    return undefined;
  }

  /** The instance that has an address of its own. */
  instanceAt(ip: string): LiveInstance | undefined {
    return this.#instances.get(ip);
  }

  /** The one instance that an address means. */
  meaningOf(ip: string): LiveInstance | undefined {
    const found = this.#addresses.get(ip);
    if (found?.address.policy !== "instance") return undefined;
    const { instance } = found.address;
    return this.#entries.get(found.key)?.instances.find(({ number }) => number === instance);
  }

  /** The address that means just this instance; undefined where there is none of that family. */
  addressMeaning(instance: LiveInstance, isV6: boolean): string | undefined {
    return this.#entries
      .get(instance.service)
      ?.service.addresses.find(
        ({ address, policy, instance: number }) =>
          policy === "instance" &&
          number === instance.number &&
          (familyOf(address) === "v6") === isV6,
      )?.address;
  }

  /**
   * The addresses of a name: of a service, or of one of its policies (`rr.NAME`, `closest.NAME`,
   * `2.NAME`). A plain name has the addresses of the first policy that the service has any of.
   * Undefined where there is no such name.
   */
  addressesOf(name: string): readonly string[] | undefined {
    const meaning = meaningOfName(name, (wanted) => this.serviceNamed(wanted));
    return meaning && serviceAddresses(meaning);
  }

  /** @param name in lower case, without a dot at the end */
  serviceNamed(name: string): EdgeService | undefined {
    const key = this.#names.get(name);
    return key === undefined ? undefined : this.#entries.get(key)?.service;
  }

  #forget(entry: Entry | undefined): void {
    if (entry === undefined) return;
    const { key } = entry.service;
    for (const { address } of entry.service.addresses) {
      if (this.#addresses.get(address)?.key === key) this.#addresses.delete(address);
    }
    for (const name of entry.service.names.map((each) => each.toLowerCase())) {
      if (this.#names.get(name) === key) this.#names.delete(name);
    }
    for (const live of entry.instances) {
      for (const ip of live.addresses) {
        if (this.#instances.get(ip) === live) this.#instances.delete(ip);
      }
    }
  }

  #refuseTaken({ key, addresses, names }: EdgeService): void {
    for (const { address } of addresses) {
      refuse(this.#addresses.get(address)?.key, key, `address ${address}`);
    }
    for (const name of names) refuse(this.#names.get(name.toLowerCase()), key, `name "${name}"`);
  }
}

function refuse(owner: string | undefined, key: string, what: string): void {
  if (owner === undefined || owner === key) return;
  throw new CoreError(
    "ERR_ADDRESS_TAKEN",
    `service ${key}: ${what} is the one of service ${owner}; give it another`,
  );
}
