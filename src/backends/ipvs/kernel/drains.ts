import type { IpvsTable } from "../../../platform/linux/ipvs/ipvs-table.ts";
import {
  type DestinationState,
  destinationId,
  serverId,
  type VirtualServer,
} from "../../../wire/netlink/ipvs/virtual-server.ts";
import type { Backing } from "./virtual-servers.ts";

/** Real servers that are to go once their last connection has ended, by key. */
export class Drains {
  readonly #ipvs: Pick<IpvsTable, "destinations">;
  readonly #servers = new Map<string, VirtualServer>();

  constructor(ipvs: Pick<IpvsTable, "destinations">) {
    this.#ipvs = ipvs;
  }

  get size(): number {
    return this.#servers.size;
  }

  add(key: string, server: VirtualServer): void {
    this.#servers.set(key, server);
  }

  delete(key: string): void {
    this.#servers.delete(key);
  }

  /** Those of a virtual server. */
  keysOf(id: string): readonly string[] {
    return [...this.#servers].filter(([, server]) => serverId(server) === id).map(([key]) => key);
  }

  keepOnly(stays: (key: string) => boolean): void {
    for (const key of [...this.#servers.keys()]) if (!stays(key)) this.#servers.delete(key);
  }

  /** Those that have connections which may not be broken. */
  async busy(candidates: readonly (readonly [string, Backing])[]): Promise<ReadonlySet<string>> {
    const asked = candidates.filter(([, { server }]) => keepsConnections(server));
    return this.#withConnections(asked.map(([key, { server }]) => [key, server]));
  }

  /** Those that have none left. */
  async finished(): Promise<readonly string[]> {
    const busy = await this.#withConnections([...this.#servers]);
    return [...this.#servers.keys()].filter((key) => !busy.has(key));
  }

  async #withConnections(
    items: readonly (readonly [string, VirtualServer])[],
  ): Promise<ReadonlySet<string>> {
    const servers = new Map(items.map(([, server]) => [serverId(server), server]));
    const busy = new Set<string>();
    for (const [id, server] of servers) {
      for (const state of await this.#ipvs.destinations(server)) {
        if (hasConnections(state)) busy.add(`${id} ${destinationId(state)}`);
      }
    }
    return busy;
  }
}

/** What is led by a mark may be of any protocol. */
function keepsConnections({ place }: VirtualServer): boolean {
  return "mark" in place || place.protocol === "TCP";
}

function hasConnections({ activeConnections, inactiveConnections }: DestinationState): boolean {
  return activeConnections + inactiveConnections > 0;
}
