import type { Accepts, Balancer } from "./balancer.ts";
import type { Server } from "./server.ts";
import { WeightedDraw } from "./weighted-draw.ts";

/** Any server, with a probability in proportion to its weight. */
export class RandomChoice implements Balancer {
  readonly #draw: WeightedDraw;

  constructor(random: () => number) {
    this.#draw = new WeightedDraw(random);
  }

  weightChanged(server: Server): void {
    this.#draw.weightChanged(server);
  }

  loadChanged(): void {}

  next(_client: string, _nowMs: number, accepts: Accepts): Server | undefined {
    return this.#draw.draw(accepts);
  }
}
