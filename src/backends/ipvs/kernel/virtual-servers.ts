import { deepEqual } from "../../../core/model/equal.ts";
import type { IpvsTable } from "../../../platform/linux/ipvs/ipvs-table.ts";
import type { IpvsChange } from "../../../wire/netlink/ipvs/encode-ipvs.ts";
import {
  type Destination,
  serverId,
  type VirtualServer,
} from "../../../wire/netlink/ipvs/virtual-server.ts";
import { ClaimedItems } from "../../claimed-items.ts";
import type { Verb } from "../handlers/claimant.ts";
import { isGivenMark } from "../plan/inside-marks.ts";
import { Drains } from "./drains.ts";
import { backingKey, type ItemId, type ItemKeys } from "./items.ts";
import type { Step } from "./step.ts";

/** A real server of a virtual one. */
export interface Backing {
  readonly server: VirtualServer;
  readonly destination: Destination;
}

/** A virtual server as the kernel has it. */
export interface FoundServer {
  readonly server: VirtualServer;
  readonly destinations: readonly Destination[];
}

/**
 * Virtual servers with their real ones: those that are claimed, and those that the kernel has. Real
 * servers that go are kept while they have connections which may not be broken.
 */
export class VirtualServers {
  readonly #isForeign: (ip: string) => boolean;
  readonly #servers = new ClaimedItems<VirtualServer>(deepEqual);
  /** Virtual servers that may stay until their last connection has ended. */
  readonly #lingering = new ClaimedItems<VirtualServer>(deepEqual);
  readonly #backings = new ClaimedItems<Backing>(isSameBacking);
  readonly #drains: Drains;

  /** @param isForeign whether what is found at an address is of somebody else */
  constructor(ipvs: Pick<IpvsTable, "destinations">, isForeign: (ip: string) => boolean) {
    this.#isForeign = isForeign;
    this.#drains = new Drains(ipvs);
  }

  server(verb: Verb, server: VirtualServer): void {
    tell(this.#servers, verb, serverId(server), server);
  }

  lingering(verb: Verb, server: VirtualServer): void {
    tell(this.#lingering, verb, serverId(server), server);
  }

  destination(verb: Verb, server: VirtualServer, destination: Destination): void {
    tell(this.#backings, verb, backingKey(server, destination), { server, destination });
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

  /**
   * Says what the kernel has.
   * @param given the marks that packets are given: others' virtual servers have other ones
   */
  adopt(found: readonly FoundServer[], given: ReadonlySet<number>): void {
    const isOurs = ({ server }: FoundServer): boolean => {
      const { place } = server;
      if ("ip" in place) return !this.#isForeign(place.ip);
      const key = serverId(server);
      const isKnown = this.#servers.has(key) || this.#servers.applied(key) !== undefined;
      return isKnown || isGivenMark(place.mark, given);
    };
    this.#servers.adopt(found.filter(isOurs).map(({ server }) => [serverId(server), server]));
    const backings: (readonly [string, Backing])[] = [];
    for (const { server, destinations } of found) {
      if (this.#servers.applied(serverId(server)) === undefined) continue;
      for (const destination of destinations) {
        backings.push([backingKey(server, destination), { server, destination }]);
      }
    }
    this.#backings.adopt(backings);
    this.#drains.keepOnly((key) => this.#backings.applied(key) !== undefined);
  }

  /** All that is to be changed, in an order in which no call finds a server without a real one. */
  async steps(only?: ItemKeys): Promise<readonly Step<IpvsChange>[]> {
    const goneBackings = await this.#goneBackings(only?.backing);
    const { removed, set } = this.#servers.changes(only?.server);
    return [
      ...this.#newServers(set),
      ...this.#newBackings(only?.backing),
      ...goneBackings,
      ...this.#goneServers(removed),
    ];
  }

  /** Has those removed by the next steps that were to go as soon as their last connection ended. */
  async finishDrains(): Promise<void> {
    for (const key of await this.#drains.finished()) {
      // A virtual server that stayed for it only goes at once.
      this.#drains.delete(key);
      const backing = this.#backings.applied(key);
      if (backing !== undefined) this.#backings.markApplied([[key, backing]]);
    }
  }

  /** What has connections left is only told to take no more; what goes with its server needs no word. */
  async #goneBackings(only?: ReadonlySet<string>): Promise<readonly Step<IpvsChange>[]> {
    const candidates: [string, Backing][] = [];
    for (const key of this.#backings.changes(only).removed) {
      const backing = this.#backings.applied(key);
      if (backing === undefined) continue;
      const id = serverId(backing.server);
      const stays = this.#servers.has(id) || this.#lingering.has(id);
      if (stays) candidates.push([key, backing]);
      else this.#dropBacking(key);
    }
    const busy = await this.#drains.busy(candidates);
    return candidates.flatMap(([key, backing]) =>
      busy.has(key) ? this.#rest(key, backing) : [this.#removal(key, backing)],
    );
  }

  #removal(key: string, { server, destination }: Backing): Step<IpvsChange> {
    // From now on it holds up the end of its virtual server no longer.
    this.#drains.delete(key);
    return {
      item: { kind: "backing", key },
      change: { kind: "deleteDestination", server, destination },
      done: () => this.#dropBacking(key),
    };
  }

  /** It keeps its connections and gets no more. */
  #rest(key: string, { server, destination }: Backing): readonly Step<IpvsChange>[] {
    this.#drains.add(key, server);
    const resting = { server, destination: { ...destination, weight: 0 } };
    const done = () => this.#backings.tolerate(key, resting);
    if (destination.weight !== 0) {
      const item: ItemId = { kind: "backing", key };
      return [{ item, change: { kind: "setDestination", ...resting }, done }];
    }
    done();
    return [];
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

function tell<V>(items: ClaimedItems<V>, verb: Verb, key: string, value: V): void {
  if (verb === "claim") items.claim(key, value);
  else items.release(key);
}

/** A change of the virtual server is none of its real ones. */
function isSameBacking(a: Backing, b: Backing): boolean {
  return a.destination.weight === b.destination.weight;
}
