import type { Log } from "../../core/log.ts";
import type { LoopGroupNames, Retired } from "../../proxy/engine/loop-control.ts";
import type { Engine } from "../../proxy/engine.ts";
import type { EngineChannel } from "../../proxy/engine-channels.ts";
import type { EngineConfig } from "../../proxy/engine-config.ts";
import {
  type DnsCacheEntry,
  type OnServerHealth,
  type PlaneControl,
  RESOLVER,
  type ServerState,
  type TrafficTotals,
} from "../plane-control.ts";
import { EndpointHealth } from "./endpoint-health.ts";
import { endpointOf } from "./endpoint-of.ts";
import { EndpointPlaces } from "./endpoint-places.ts";
import { LazyMap } from "./lazy-map.ts";
import { serverState } from "./server-states.ts";

export interface EngineControlOptions {
  readonly engine: Engine;
  /** What the engine does now. */
  readonly config: () => EngineConfig;
  readonly log: Log;
}

/** An engine as commands see it. */
export class EngineControl implements PlaneControl {
  readonly #engine: Engine;
  readonly #config: () => EngineConfig;
  readonly #places: EndpointPlaces;
  readonly #health: EndpointHealth;
  readonly #log: Log;

  constructor({ engine, config, log }: EngineControlOptions) {
    this.#engine = engine;
    const healthOf = engine.healthOf.bind(engine);
    this.#config = config;
    this.#places = new EndpointPlaces(config);
    this.#health = new EndpointHealth({ places: this.#places, healthOf });
    engine.onHealth(({ server }) => this.#health.changed(server));
    this.#log = log;
  }

  loopGroups(): readonly LoopGroupNames[] {
    return this.#engine.loops.groups();
  }

  addLoopGroup(name: string): Promise<void> {
    return this.#engine.loops.addGroup(name);
  }

  async removeLoopGroup(name: string): Promise<void> {
    this.#leave(name, await this.#engine.loops.retireGroup(name));
  }

  async addLoop(name: string, group: string): Promise<void> {
    await this.#engine.loops.add(group, name);
  }

  async removeLoop(name: string): Promise<void> {
    this.#leave(name, await this.#engine.loops.retire(name));
  }

  async channels(): Promise<readonly EngineChannel[]> {
    const channels = await this.#engine.channels.list();
    return channels.map((channel) => ({ ...channel, server: endpointOf(channel.server) }));
  }

  closeChannel(id: string): Promise<boolean> {
    return this.#engine.channels.close(id);
  }

  listenerTotals(): ReadonlyMap<string, TrafficTotals> {
    const keys = (): readonly string[] => this.#config().listeners.map(({ key }) => key);
    return new LazyMap(keys, (key) => this.#engine.listenerCounts(key));
  }

  servers(): ReadonlyMap<string, ServerState> {
    const { all } = this.#places;
    const countsOf = this.#engine.serverCounts.bind(this.#engine);
    return new LazyMap(
      () => all.keys(),
      (endpoint) => serverState(endpoint, all.get(endpoint) ?? [], countsOf),
    );
  }

  async dnsCache(): Promise<readonly DnsCacheEntry[]> {
    const names = await this.#engine.names.list();
    return names.map(({ listener, name, addresses, expiresInMs }) => ({
      holder: listener === "" ? RESOLVER : listener,
      name,
      addresses,
      expiresInMs,
    }));
  }

  dropDnsCache(holder: string, name: string): Promise<boolean> {
    return this.#engine.names.forget(holder === RESOLVER ? "" : holder, name);
  }

  onHealth(listener: OnServerHealth): () => void {
    return this.#health.listen(listener);
  }

  /** Nobody waits for its end. */
  #leave(name: string, { ended }: Retired): void {
    ended.catch((error: unknown) => {
      this.#log.error({ err: error, name }, "what was removed could not be ended");
    });
  }
}
