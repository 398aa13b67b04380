import type { EngineConfig, ServerConfig } from "../../proxy/engine-config.ts";
import { endpointOf } from "./endpoint-of.ts";

/** Where an endpoint is a server. */
export interface EndpointPlace {
  /** Key of the engine's group. */
  readonly group: string;
  readonly server: ServerConfig;
}

export type Places = ReadonlyMap<string, readonly EndpointPlace[]>;

/** Finds endpoints in what the engine does; looked up anew only where that has changed. */
export class EndpointPlaces {
  readonly #config: () => EngineConfig;
  #known: { readonly config: EngineConfig; readonly places: Places } | undefined;

  constructor(config: () => EngineConfig) {
    this.#config = config;
  }

  /** By the keys of the endpoints; those that nothing leads to are not there. The same as long as nothing changes. */
  get all(): Places {
    const config = this.#config();
    if (this.#known?.config !== config) this.#known = { config, places: placesOf(config) };
    return this.#known.places;
  }
}

function placesOf({ groups }: EngineConfig): Places {
  const places = new Map<string, EndpointPlace[]>();
  for (const { key: group, servers } of groups) {
    for (const server of servers) {
      const endpoint = endpointOf(server.key);
      const known = places.get(endpoint) ?? [];
      known.push({ group, server });
      places.set(endpoint, known);
    }
  }
  return places;
}
