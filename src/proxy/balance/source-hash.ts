import type { Accepts, Balancer } from "./balancer.ts";
import { hashText32, mix32 } from "./hash32.ts";
import type { Server } from "./server.ts";

const SPREAD = 0x9e3779b1;
const HASHES = 2 ** 32;
/** How a dual-stack socket spells an IPv4 client. */
const MAPPED_V4 = /^::ffff:(?=\d+\.)/;

/**
 * A client always comes to the same server, in every process: weighted rendezvous hashing. When a
 * server goes, only its own clients move; when it comes back, exactly these come back. Linear in the
 * number of servers, at a few nanoseconds each: there is no ring to be built anew on a change.
 */
export class SourceHash implements Balancer {
  readonly #indexes = new Map<Server, number>();
  /** Three lists side by side, as they are walked through for every connection. */
  readonly #servers: Server[] = [];
  readonly #seeds: number[] = [];
  readonly #weights: number[] = [];

  weightChanged(server: Server): void {
    const index = this.#indexes.get(server);
    if (index === undefined) this.#add(server);
    else if (server.weight === 0) this.#delete(server, index);
    else this.#weights[index] = server.weight;
  }

  loadChanged(): void {}

  next(client: string, _nowMs: number, accepts: Accepts): Server | undefined {
    const clientHash = Math.imul(hashText32(client.replace(MAPPED_V4, "")), SPREAD);
    const seeds = this.#seeds;
    const weights = this.#weights;
    let best: Server | undefined;
    let bestScore = Number.NEGATIVE_INFINITY;
    for (let index = 0; index < seeds.length; index++) {
      const fraction = (mix32(clientHash ^ (seeds[index] ?? 0)) + 0.5) / HASHES;
      const weight = weights[index] ?? 1;
      // As log(x) <= x - 1, most need no logarithm to be known as losers.
      if (fraction - 1 <= bestScore * weight) continue;
      const score = Math.log(fraction) / weight;
      const server = this.#servers[index];
      if (score <= bestScore || server === undefined || !accepts(server)) continue;
      best = server;
      bestScore = score;
    }
    return best;
  }

  #add(server: Server): void {
    if (server.weight === 0) return;
    this.#indexes.set(server, this.#servers.length);
    this.#servers.push(server);
    this.#seeds.push(hashText32(server.key) | 0);
    this.#weights.push(server.weight);
  }

  /** The last one takes its place. */
  #delete(server: Server, index: number): void {
    this.#indexes.delete(server);
    const last = this.#servers.pop();
    const seed = this.#seeds.pop() ?? 0;
    const weight = this.#weights.pop() ?? 0;
    if (last === undefined || last === server) return;
    this.#servers[index] = last;
    this.#seeds[index] = seed;
    this.#weights[index] = weight;
    this.#indexes.set(last, index);
  }
}
