import type { MemberHealth } from "../../proxy/engine/health-board.ts";
import type { EngineConfig } from "../../proxy/engine-config.ts";
import type { OnServerHealth } from "../plane-control.ts";
import { endpointOf } from "./endpoint-of.ts";

/** A place where an endpoint is a server. */
interface Place {
  readonly group: string;
  readonly server: string;
}

export interface EndpointHealthOptions {
  readonly config: () => EngineConfig;
  readonly healthOf: (group: string, server: string) => MemberHealth | undefined;
}

/** How an endpoint is that several groups may check: up where it is up in one of them. */
export function joinHealth(healths: readonly MemberHealth[]): MemberHealth {
  const best =
    healths.find(({ health }) => health === "up") ??
    healths.find(({ health }) => health === "down");
  return best ?? healths[0] ?? { health: "starting", reason: "" };
}

/** Tells of endpoints that have gone up or down. */
export class EndpointHealth {
  readonly #options: EndpointHealthOptions;
  readonly #listeners = new Set<OnServerHealth>();
  /** As it was told last. */
  readonly #told = new Map<string, MemberHealth["health"]>();
  #places: ReadonlyMap<string, readonly Place[]> = new Map();
  #config: EngineConfig | undefined;

  constructor(options: EndpointHealthOptions) {
    this.#options = options;
  }

  listen(listener: OnServerHealth): () => void {
    const told: OnServerHealth = (...change) => listener(...change);
    this.#listeners.add(told);
    return () => this.#listeners.delete(told);
  }

  /** A server of the engine has gone up or down, in one of its groups. */
  changed(server: string): void {
    this.#follow();
    const endpoint = endpointOf(server);
    const healths = (this.#places.get(endpoint) ?? []).flatMap(
      (place) => this.#options.healthOf(place.group, place.server) ?? [],
    );
    const { health, reason } = joinHealth(healths);
    if (health === "starting" || this.#told.get(endpoint) === health) return;
    this.#told.set(endpoint, health);
    for (const tell of [...this.#listeners]) tell(endpoint, { health, reason });
  }

  /** Where the endpoints are, by the configuration of now; those that are gone are told anew. */
  #follow(): void {
    const config = this.#options.config();
    if (config === this.#config) return;
    this.#config = config;
    this.#places = placesOf(config);
    for (const endpoint of [...this.#told.keys()]) {
      if (!this.#places.has(endpoint)) this.#told.delete(endpoint);
    }
  }
}

function placesOf({ groups }: EngineConfig): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  for (const { key: group, servers } of groups) {
    for (const { key: server } of servers) {
      const endpoint = endpointOf(server);
      const known = places.get(endpoint) ?? [];
      known.push({ group, server });
      places.set(endpoint, known);
    }
  }
  return places;
}
