import type { NodeEndpoint, NodeService, SetValues } from "../view/ops.ts";
import { createDecoderSink, type FurtherSet, type SetHandler } from "./decoder.ts";
import { SettledMap } from "./settled-map.ts";
import type { Sink, WatchRequest } from "./sink.ts";

/** A service with the endpoints that this node may use, ascending by path; immutable. */
export interface ServiceEndpoints {
  readonly service: NodeService;
  readonly endpoints: readonly NodeEndpoint[];
}

/** The whole state of one node. Not a copy: it stays as it is until `apply` settles. */
export interface FullState {
  readonly services: ReadonlyMap<string, ServiceEndpoints>;
  /** The further sets; empty where the request did not ask for them. */
  readonly further: { readonly [S in FurtherSet]: ReadonlyMap<string, SetValues[S]> };
}

/** What differs from the last state that was applied; keys of deleted things are among them. */
export interface ChangedKeys {
  /** Services that changed themselves or whose endpoints did. */
  readonly services: ReadonlySet<string>;
  readonly further: { readonly [S in FurtherSet]: ReadonlySet<string> };
}

export interface FullStateTarget {
  setup?(): void | Promise<void>;
  waitRequest(): WatchRequest | Promise<WatchRequest>;
  /** Makes it so. When it rejects, the next call is told the same keys again, and any new ones. */
  apply(state: FullState, changed: ChangedKeys): void | Promise<void>;
}

/** Collects operations and hands over the whole state at each sync, with what changed in it. */
export function createFullStateSink(target: FullStateTarget): Sink {
  const services = new ServiceTable();
  const listeners = new Table<SetValues["listeners"]>();
  const groups = new Table<SetValues["groups"]>();
  const nodes = new Table<SetValues["nodes"]>();
  const securityGroups = new Table<SetValues["security-groups"]>();
  const certificates = new Table<SetValues["certificates"]>();
  const tables = [services, listeners, groups, nodes, securityGroups, certificates];
  const state: FullState = {
    services: services.settled.current,
    further: {
      listeners: listeners.settled.current,
      groups: groups.settled.current,
      nodes: nodes.settled.current,
      "security-groups": securityGroups.settled.current,
      certificates: certificates.settled.current,
    },
  };
  const changed: ChangedKeys = {
    services: services.settled.changed,
    further: {
      listeners: listeners.settled.changed,
      groups: groups.settled.changed,
      nodes: nodes.settled.changed,
      "security-groups": securityGroups.settled.changed,
      certificates: certificates.settled.changed,
    },
  };
  return createDecoderSink({
    setup: () => target.setup?.(),
    waitRequest: () => target.waitRequest(),
    setService: (service) => services.setService(service),
    deleteService: (key) => services.deleteService(key),
    setEndpoint: (endpoint) => services.setEndpoint(endpoint),
    deleteEndpoint: (path, service) => services.deleteEndpoint(path, service),
    further: { listeners, groups, nodes, "security-groups": securityGroups, certificates },
    reset: () => {
      for (const table of tables) table.reset();
    },
    sync: async () => {
      for (const table of tables) table.settled.settle();
      await target.apply(state, changed);
      for (const table of tables) table.settled.accept();
    },
  });
}

/** One further set. */
class Table<V> implements SetHandler<V> {
  readonly #values = new Map<string, V>();
  readonly settled: SettledMap<V> = new SettledMap((path) => this.#values.get(path));

  set(path: string, value: V): void {
    this.#values.set(path, value);
    this.settled.touch(path);
  }

  delete(path: string): void {
    this.#values.delete(path);
    this.settled.touch(path);
  }

  reset(): void {
    this.#values.clear();
    this.settled.touchAll();
  }
}

/** Services with their endpoints. An endpoint whose service is not there waits for it. */
class ServiceTable {
  readonly #services = new Map<string, NodeService>();
  readonly #endpoints = new Map<string, Map<string, NodeEndpoint>>();
  readonly settled: SettledMap<ServiceEndpoints> = new SettledMap((key) => this.#join(key));

  setService(service: NodeService): void {
    this.#services.set(service.key, service);
    this.settled.touch(service.key);
  }

  deleteService(key: string): void {
    this.#services.delete(key);
    this.settled.touch(key);
  }

  setEndpoint(endpoint: NodeEndpoint): void {
    const siblings = this.#endpoints.get(endpoint.service) ?? new Map<string, NodeEndpoint>();
    this.#endpoints.set(endpoint.service, siblings.set(endpoint.path, endpoint));
    this.settled.touch(endpoint.service);
  }

  deleteEndpoint(path: string, service: string): void {
    const siblings = this.#endpoints.get(service);
    siblings?.delete(path);
    if (siblings?.size === 0) this.#endpoints.delete(service);
    this.settled.touch(service);
  }

  reset(): void {
    this.#services.clear();
    this.#endpoints.clear();
    this.settled.touchAll();
  }

  #join(key: string): ServiceEndpoints | undefined {
    const service = this.#services.get(key);
    if (service === undefined) return undefined;
    const endpoints = [...(this.#endpoints.get(key)?.values() ?? [])];
    endpoints.sort((a, b) => (a.path < b.path ? -1 : 1));
    return { service, endpoints };
  }
}
