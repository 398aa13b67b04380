import type { Accepts, Balancer } from "./balancer.ts";
import { type HeapItem, IndexedHeap } from "./indexed-heap.ts";
import type { Server } from "./server.ts";

interface Place extends HeapItem {
  readonly server: Server;
  /** When it was last chosen, counted in choices; below 1: not yet. */
  chosenAt: number;
}

/**
 * The server that would have the fewest connections for its weight after taking this one; of several,
 * the one that was chosen longest ago, so that idle servers share what comes.
 */
export class LeastConnections implements Balancer {
  readonly #random: () => number;
  readonly #places = new Map<Server, Place>();
  readonly #heap = new IndexedHeap<Place>(isLessLoaded);
  #choices = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  weightChanged(server: Server): void {
    const place = this.#places.get(server);
    if (place === undefined) {
      this.#add(server);
    } else if (server.weight > 0) {
      this.#heap.update(place);
    } else {
      this.#places.delete(server);
      this.#heap.delete(place);
    }
  }

  loadChanged(server: Server): void {
    const place = this.#places.get(server);
    if (place !== undefined) this.#heap.update(place);
  }

  next(_client: string, _nowMs: number, accepts: Accepts): Server | undefined {
    const place = this.#heap.firstAccepted((one) => accepts(one.server));
    if (place === undefined) return undefined;
    this.#choices += 1;
    place.chosenAt = this.#choices;
    this.#heap.update(place);
    return place.server;
  }

  #add(server: Server): void {
    if (server.weight <= 0) return;
    const place: Place = { server, chosenAt: this.#random(), heapIndex: -1 };
    this.#places.set(server, place);
    this.#heap.push(place);
  }
}

function isLessLoaded(a: Place, b: Place): boolean {
  const loadA = (a.server.load + 1) / a.server.weight;
  const loadB = (b.server.load + 1) / b.server.weight;
  return loadA === loadB ? a.chosenAt < b.chosenAt : loadA < loadB;
}
