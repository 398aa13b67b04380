import type { CoreError } from "../../../core/errors.ts";
import type { Family } from "../../../core/model/address.ts";
import { deepEqual } from "../../../core/model/equal.ts";
import type { RefusedChange } from "../../../platform/linux/netlink/exchange-batches.ts";
import type { IpSetChange } from "../../../wire/netlink/ipset/encode-ipset.ts";
import type { IpSetEntry } from "../../../wire/netlink/ipset/ip-set.ts";
import type { IpvsChange } from "../../../wire/netlink/ipvs/encode-ipvs.ts";
import {
  type Destination,
  serverId,
  type VirtualServer,
} from "../../../wire/netlink/ipvs/virtual-server.ts";
import { ClaimedItems } from "../../claimed-items.ts";
import type { FamilySets, SetKey } from "../glue/set-names.ts";
import type { Claimant, Verb } from "../handlers/claimant.ts";
import { Drains } from "./drains.ts";
import { backingKey, type ItemId, type ItemKeys, memberKey } from "./items.ts";
import type { IpvsPlatform } from "./platform.ts";
import { readKernel } from "./read-kernel.ts";

/** A real server of a virtual one. */
export interface Backing {
  readonly server: VirtualServer;
  readonly destination: Destination;
}

/** An entry of a set. */
export interface Member {
  readonly set: SetKey;
  readonly entry: IpSetEntry;
}

export interface ProxierOptions {
  readonly family: Family;
  readonly platform: IpvsPlatform;
  readonly sets: FamilySets;
  /** The mark of insiders, and the same once the packet is to be masqueraded. */
  marksOf(mark: number): readonly number[];
  /** Whether what is found there is of somebody else. */
  isForeign(place: VirtualServer["place"]): boolean;
  isForeignAddress(ip: string): boolean;
}

/** What the kernel refused. */
export interface ItemFailure {
  readonly item: ItemId;
  readonly error: CoreError;
}

/** What was done since the last time that was asked. */
export interface ProxierWork {
  /** How many changes the kernel made. */
  readonly changes: number;
  readonly failures: readonly ItemFailure[];
}

export interface FlushOptions {
  /** Of these only; all when not given. */
  readonly only?: ItemKeys;
  /** Is done when all is there but the addresses, which let calls in. */
  readonly beforeAddresses?: (() => Promise<void>) | undefined;
}

interface Step<T> {
  readonly item: ItemId;
  readonly change: T;
  done(): void;
}

/**
 * Makes the kernel hold what is claimed: virtual servers with their real ones, entries of sets, and
 * addresses. It knows nothing of services. What the kernel refuses is told again with the next flush.
 */
export class Proxier implements Claimant {
  readonly #options: ProxierOptions;
  readonly #servers = new ClaimedItems<VirtualServer>(deepEqual);
  /** Virtual servers that may stay until their last connection has ended. */
  readonly #lingering = new ClaimedItems<VirtualServer>(deepEqual);
  readonly #backings = new ClaimedItems<Backing>(isSameBacking);
  readonly #members = new ClaimedItems<Member>(deepEqual);
  readonly #addresses = new ClaimedItems<string>(Object.is);
  readonly #drains: Drains;
  /** Addresses that other links have. */
  #taken: ReadonlySet<string> = new Set();

  constructor(options: ProxierOptions) {
    this.#options = options;
    this.#drains = new Drains(options.platform.ipvs);
  }

  server(verb: Verb, server: VirtualServer): void {
    this.#tell(this.#servers, verb, serverId(server), server);
  }

  lingering(verb: Verb, server: VirtualServer): void {
    this.#tell(this.#lingering, verb, serverId(server), server);
  }

  destination(verb: Verb, server: VirtualServer, destination: Destination): void {
    const key = backingKey(server, destination);
    this.#tell(this.#backings, verb, key, { server, destination });
  }

  address(verb: Verb, ip: string): void {
    this.#tell(this.#addresses, verb, ip, ip);
    this.entry(verb, "addresses", { ip });
  }

  entry(verb: Verb, set: SetKey, entry: IpSetEntry): void {
    this.#tell(this.#members, verb, memberKey(set, entry), { set, entry });
  }

  marksOf(mark: number): readonly number[] {
    return this.#options.marksOf(mark);
  }

  get counts(): {
    readonly servers: number;
    readonly destinations: number;
    readonly draining: number;
  } {
    return {
      servers: this.#servers.size,
      destinations: this.#backings.size,
      draining: this.#drains.size,
    };
  }

  /** Servers that are claimed, for who counts what they did. */
  servers(): Iterable<readonly [string, VirtualServer]> {
    return this.#servers.all();
  }

  /** Looks at what the kernel holds; all that differs from what is claimed is put right by `flush`. */
  async read(): Promise<void> {
    const { family, platform, sets, isForeign, isForeignAddress } = this.#options;
    const kernel = await readKernel(platform, family, sets);
    this.#taken = new Set(kernel.addresses.others);
    this.#servers.adopt(
      kernel.servers
        .map(({ server }) => [serverId(server), server] as const)
        .filter(([key, { place }]) => this.#servers.has(key) || !isForeign(place)),
    );
    const backings: (readonly [string, Backing])[] = [];
    for (const { server, destinations } of kernel.servers) {
      if (this.#servers.applied(serverId(server)) === undefined) continue;
      for (const destination of destinations) {
        backings.push([backingKey(server, destination), { server, destination }]);
      }
    }
    this.#backings.adopt(backings);
    this.#members.adopt(
      kernel.members.map((member) => [memberKey(member.set, member.entry), member]),
    );
    this.#addresses.adopt(
      kernel.addresses.own
        .filter((ip) => this.#addresses.has(ip) || !isForeignAddress(ip))
        .map((ip) => [ip, ip]),
    );
    this.#drains.keepOnly((key) => this.#backings.applied(key) !== undefined);
  }

  /**
   * Tells the kernel all that changed, in an order in which no call is lost that could be served. What
   * is refused holds up nothing else.
   */
  async flush({ only, beforeAddresses }: FlushOptions = {}): Promise<ProxierWork> {
    const { platform } = this.#options;
    const failures: ItemFailure[] = [];
    let changes = 0;
    const run = async <T>(
      steps: readonly Step<T>[],
      tell: (items: readonly T[]) => Promise<readonly RefusedChange[]>,
    ): Promise<void> => {
      if (steps.length === 0) return;
      const refused = await tell(steps.map(({ change }) => change));
      changes += steps.length - refused.length;
      const failed = new Set(refused.map(({ index }) => index));
      steps.forEach(({ done }, index) => {
        if (!failed.has(index)) done();
      });
      for (const { index, error } of refused) {
        const step = steps[index];
        if (step !== undefined) failures.push({ item: step.item, error });
      }
    };
    const members = this.#members.changes(only?.member);
    const addresses = this.#addresses.changes(only?.address);
    await run(this.#removedMembers(members.removed), (items) => platform.sets.change(items));
    await run(
      addresses.removed.map((ip) => ({
        item: { kind: "address", key: ip } as const,
        change: { kind: "delete", ip } as const,
        done: () => this.#addresses.accept(ip),
      })),
      (items) => platform.link.change(items),
    );
    const goneBackings = await this.#goneBackings(only?.backing);
    const { removed, set } = this.#servers.changes(only?.server);
    await run(
      [
        ...goneBackings,
        ...this.#goneServers(removed),
        ...this.#newServers(set),
        ...this.#newBackings(only?.backing),
      ],
      (items) => platform.ipvs.change(items),
    );
    await run(this.#addedMembers(members.set), (items) => platform.sets.change(items));
    await beforeAddresses?.();
    await run(this.#boundAddresses(addresses.set), (items) => platform.link.change(items));
    return { changes, failures };
  }

  /** Removes those that were to go as soon as their last connection ended. */
  async finishDrains(): Promise<ProxierWork> {
    for (const key of await this.#drains.finished()) {
      const backing = this.#backings.applied(key);
      if (backing !== undefined) this.#backings.markApplied([[key, backing]]);
    }
    return this.flush();
  }

  /** Nothing is wanted any more, and nothing is known. */
  forget(): void {
    for (const items of [this.#servers, this.#backings, this.#members, this.#addresses]) {
      items.adopt([]);
    }
  }

  #tell<V>(items: ClaimedItems<V>, verb: Verb, key: string, value: V): void {
    if (verb === "claim") items.claim(key, value);
    else items.release(key);
  }

  #removedMembers(keys: readonly string[]): readonly Step<IpSetChange>[] {
    const { sets } = this.#options;
    return keys.flatMap((key) => {
      const member = this.#members.applied(key);
      if (member === undefined) return [];
      const change = { kind: "delete", set: sets[member.set], entry: member.entry } as const;
      return [
        { item: { kind: "member", key }, change, done: () => this.#members.accept(key) } as const,
      ];
    });
  }

  #addedMembers(items: readonly (readonly [string, Member])[]): readonly Step<IpSetChange>[] {
    const { sets } = this.#options;
    const wanted = items.filter(
      ([, { set, entry }]) => set !== "addresses" || !this.#isTaken(entry),
    );
    return wanted.map(([key, { set, entry }]) => ({
      item: { kind: "member", key },
      change: { kind: "add", set: sets[set], entry },
      done: () => this.#members.accept(key),
    }));
  }

  #isTaken({ ip }: IpSetEntry): boolean {
    return ip !== undefined && this.#taken.has(ip);
  }

  /** Not those that another link has: it is there, then. */
  #boundAddresses(
    items: readonly (readonly [string, string])[],
  ): readonly Step<{ kind: "add"; ip: string }>[] {
    return items
      .filter(([ip]) => !this.#taken.has(ip))
      .map(([ip]) => ({
        item: { kind: "address", key: ip },
        change: { kind: "add", ip },
        done: () => this.#addresses.accept(ip),
      }));
  }

  /** What has connections left is only told to take no more; what goes with its server needs no word. */
  async #goneBackings(only?: ReadonlySet<string>): Promise<readonly Step<IpvsChange>[]> {
    const steps: Step<IpvsChange>[] = [];
    const going = this.#backings.changes(only).removed;
    const candidates: [string, Backing][] = [];
    for (const key of going) {
      const backing = this.#backings.applied(key);
      if (backing === undefined) continue;
      const id = serverId(backing.server);
      const stays = this.#servers.has(id) || this.#lingering.has(id);
      if (stays) candidates.push([key, backing]);
      else this.#dropBacking(key);
    }
    const busy = await this.#drains.busy(candidates);
    for (const [key, { server, destination }] of candidates) {
      const item: ItemId = { kind: "backing", key };
      if (!busy.has(key)) {
        const change = { kind: "deleteDestination", server, destination } as const;
        steps.push({ item, change, done: () => this.#dropBacking(key) });
        continue;
      }
      this.#drains.add(key, server);
      const resting = { server, destination: { ...destination, weight: 0 } };
      const done = () => this.#backings.tolerate(key, resting);
      if (destination.weight === 0) done();
      else steps.push({ item, change: { kind: "setDestination", ...resting }, done });
    }
    return steps;
  }

  /** It is gone, or there for good. */
  #dropBacking(key: string): void {
    this.#drains.delete(key);
    this.#backings.accept(key);
  }

  #goneServers(keys: readonly string[]): readonly Step<IpvsChange>[] {
    return keys.flatMap((key) => {
      const server = this.#servers.applied(key);
      if (server === undefined) return [];
      if (this.#lingering.has(key) && this.#drains.keysOf(key).length > 0) return [];
      return [
        {
          item: { kind: "server", key } as const,
          change: { kind: "deleteService", server } as const,
          done: () => {
            this.#servers.accept(key);
            // They went with it.
            for (const drained of this.#drains.keysOf(key)) this.#dropBacking(drained);
          },
        },
      ];
    });
  }

  #newServers(items: readonly (readonly [string, VirtualServer])[]): readonly Step<IpvsChange>[] {
    return items.map(([key, server]) => {
      const isThere = this.#servers.applied(key) !== undefined;
      const kind = isThere ? "setService" : "newService";
      const item: ItemId = { kind: "server", key };
      return { item, change: { kind, server }, done: () => this.#servers.accept(key) };
    });
  }

  #newBackings(only?: ReadonlySet<string>): readonly Step<IpvsChange>[] {
    return this.#backings.changes(only).set.map(([key, { server, destination }]) => {
      const isThere = this.#backings.applied(key) !== undefined;
      const kind = isThere ? "setDestination" : "newDestination";
      const item: ItemId = { kind: "backing", key };
      const done = () => this.#dropBacking(key);
      return { item, change: { kind, server, destination }, done };
    });
  }
}

/** A change of the virtual server is none of its real ones. */
function isSameBacking(a: Backing, b: Backing): boolean {
  return a.destination.weight === b.destination.weight;
}
