import type { Accepts, Balancer } from "./balancer.ts";
import type { Server } from "./server.ts";
import { WeightedDraw } from "./weighted-draw.ts";

/**
 * The better of two servers drawn by weight: peak EWMA of the latency times the load. Two are enough
 * to stay away from the slow ones, and many loops that measure apart do not all run to the same one.
 */
export class LeastLatency implements Balancer {
  readonly #draw: WeightedDraw;

  constructor(random: () => number) {
    this.#draw = new WeightedDraw(random);
  }

  weightChanged(server: Server): void {
    this.#draw.weightChanged(server);
  }

  loadChanged(): void {}

  next(_client: string, nowMs: number, accepts: Accepts): Server | undefined {
    const one = this.#draw.draw(accepts);
    if (one === undefined) return undefined;
    const meanWeight = this.#draw.totalWeight / this.#draw.size;
    const other = this.#draw.draw(accepts, one);
    if (other === undefined) return one;
    return cost(other, meanWeight, nowMs) < cost(one, meanWeight, nowMs) ? other : one;
  }
}

/**
 * Idle servers of equal latency cost the same, so that the draw alone decides by weight. One that was
 * never measured is tried at once, but with one connection only until it has answered.
 */
function cost(server: Server, meanWeight: number, nowMs: number): number {
  if (!server.latency.isObserved) return server.connections === 0 ? 0 : Number.POSITIVE_INFINITY;
  const load = (server.connections * meanWeight) / server.weight;
  return server.latency.valueMs(nowMs) * (1 + load);
}
