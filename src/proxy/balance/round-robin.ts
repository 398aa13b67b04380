import type { Accepts, Balancer } from "./balancer.ts";
import type { Server } from "./server.ts";
import { WeightedTurns } from "./weighted-turns.ts";

/** Servers take turns, evenly spread, by their weights. */
export class RoundRobin implements Balancer {
  readonly #turns: WeightedTurns<Server>;

  constructor(random: () => number) {
    this.#turns = new WeightedTurns(random);
  }

  weightChanged(server: Server): void {
    this.#turns.set(server, server.weight);
  }

  loadChanged(): void {}

  next(_client: string, _nowMs: number, accepts: Accepts): Server | undefined {
    return this.#turns.next(accepts);
  }
}
