import type { Accepts } from "./balancer.ts";
import type { Server } from "./server.ts";
import { WeightTree } from "./weight-tree.ts";

/** Draws servers at random, in proportion to their weights. */
export class WeightedDraw {
  readonly #random: () => number;
  readonly #tree = new WeightTree();
  readonly #slots = new Map<Server, number>();
  readonly #servers: (Server | undefined)[] = [];
  readonly #free: number[] = [];

  constructor(random: () => number) {
    this.#random = random;
  }

  get size(): number {
    return this.#slots.size;
  }

  get totalWeight(): number {
    return this.#tree.total;
  }

  weightChanged(server: Server): void {
    const slot = this.#slots.get(server) ?? this.#take(server);
    this.#tree.set(slot, server.weight);
    if (server.weight > 0) return;
    this.#slots.delete(server);
    this.#servers[slot] = undefined;
    this.#free.push(slot);
  }

  /** One that is accepted and is not `except`: as if only those were there. */
  draw(accepts: Accepts, except?: Server): Server | undefined {
    const refused: number[] = [];
    let found: Server | undefined;
    while (found === undefined && this.#tree.total > 0) {
      const slot = this.#tree.find(this.#random());
      const server = this.#servers[slot];
      if (server !== undefined && server !== except && accepts(server)) found = server;
      else {
        refused.push(slot);
        this.#tree.set(slot, 0);
      }
    }
    for (const slot of refused) this.#tree.set(slot, this.#servers[slot]?.weight ?? 0);
    return found;
  }

  #take(server: Server): number {
    const slot = this.#free.pop() ?? this.#servers.length;
    this.#slots.set(server, slot);
    this.#servers[slot] = server;
    return slot;
  }
}
