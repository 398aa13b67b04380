import { CoreError } from "../core/errors.ts";
import type {
  DnsCacheEntry,
  EngineChannel,
  EnginePort,
  LoopGroupState,
  ServerState,
  TrafficTotals,
} from "./engine-port.ts";

const DEFAULT_GROUP = "worker";

type HealthListener = Parameters<EnginePort["onHealth"]>[0];

/** An engine of which tests say what it has: loops are names, channels are entries. */
export class MemoryEngine implements EnginePort {
  readonly #groups = new Map<string, string[]>([[DEFAULT_GROUP, ["worker-1", "worker-2"]]]);
  readonly #listeners = new Set<HealthListener>();
  openChannels: readonly EngineChannel[] = [];
  totals: ReadonlyMap<string, TrafficTotals> = new Map();
  states: ReadonlyMap<string, ServerState> = new Map();
  names: readonly DnsCacheEntry[] = [];

  loopGroups(): readonly LoopGroupState[] {
    return [...this.#groups].map(([name, loops]) => ({
      name,
      loops: [...loops],
      isDefault: name === DEFAULT_GROUP,
    }));
  }

  async addLoopGroup(name: string): Promise<void> {
    if (this.#groups.has(name)) {
      throw new CoreError("ERR_KEY_TAKEN", `event-loop-group ${name} is there already`);
    }
    this.#groups.set(name, []);
  }

  async removeLoopGroup(name: string): Promise<void> {
    if (name === DEFAULT_GROUP) {
      throw new CoreError(
        "ERR_IN_USE",
        `event-loop-group ${name} is there from the start, and stays`,
      );
    }
    this.#groups.delete(name);
  }

  async addLoop(name: string, group: string): Promise<void> {
    const isTaken = [...this.#groups.values()].some((loops) => loops.includes(name));
    if (isTaken) throw new CoreError("ERR_KEY_TAKEN", `event-loop ${name} is there already`);
    this.#groups.get(group)?.push(name);
  }

  async removeLoop(name: string): Promise<void> {
    for (const [group, loops] of this.#groups) {
      this.#groups.set(
        group,
        loops.filter((loop) => loop !== name),
      );
    }
  }

  async channels(): Promise<readonly EngineChannel[]> {
    return this.openChannels;
  }

  async closeChannel(id: string): Promise<boolean> {
    const before = this.openChannels.length;
    this.openChannels = this.openChannels.filter((channel) => channel.id !== id);
    return this.openChannels.length < before;
  }

  listenerTotals(): ReadonlyMap<string, TrafficTotals> {
    return this.totals;
  }

  servers(): ReadonlyMap<string, ServerState> {
    return this.states;
  }

  async dnsCache(): Promise<readonly DnsCacheEntry[]> {
    return this.names;
  }

  async dropDnsCache(holder: string, name: string): Promise<boolean> {
    const before = this.names.length;
    this.names = this.names.filter((entry) => entry.holder !== holder || entry.name !== name);
    return this.names.length < before;
  }

  onHealth(listener: HealthListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Has all listeners told of a server. */
  tellHealth(server: string, health: "up" | "down", reason = ""): void {
    for (const listener of this.#listeners) listener(server, { health, reason });
  }
}
