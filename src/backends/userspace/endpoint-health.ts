import type { MemberHealth } from "../../proxy/engine/health-board.ts";
import type { OnServerHealth } from "../plane-control.ts";
import { endpointOf } from "./endpoint-of.ts";
import type { EndpointPlaces, Places } from "./endpoint-places.ts";

export interface EndpointHealthOptions {
  readonly places: EndpointPlaces;
  readonly healthOf: (group: string, server: string) => MemberHealth;
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
  #seen: Places | undefined;

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
    const { places, healthOf } = this.#options;
    const { all } = places;
    if (all !== this.#seen) this.#forgetGone(all);
    const endpoint = endpointOf(server);
    const healths = (all.get(endpoint) ?? []).map((place) =>
      healthOf(place.group, place.server.key),
    );
    const { health, reason } = joinHealth(healths);
    if (health === "starting" || this.#told.get(endpoint) === health) return;
    this.#told.set(endpoint, health);
    for (const tell of [...this.#listeners]) tell(endpoint, { health, reason });
  }

  /** Those that are gone are told anew when they come back. */
  #forgetGone(all: Places): void {
    this.#seen = all;
    for (const endpoint of [...this.#told.keys()]) {
      if (!all.has(endpoint)) this.#told.delete(endpoint);
    }
  }
}
