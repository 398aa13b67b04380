import type { Socket } from "node:net";

export interface Visitor {
  /** Whether it has shown that it may ask, or everyone may. */
  readonly isTrusted: boolean;
}

export interface PlacesOptions {
  readonly max: number;
  /** Told once when somebody finds no place, until there is room for many. */
  readonly onFull: () => void;
}

/** The connections of a controller, oldest first, and never more than there may be. */
export class Places<V extends Visitor> {
  readonly #options: PlacesOptions;
  readonly #visitors = new Map<Socket, V>();
  #isFull = false;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#visitors.size;
  }

  sockets(): IterableIterator<Socket> {
    return this.#visitors.keys();
  }

  visitors(): IterableIterator<V> {
    return this.#visitors.values();
  }

  get(socket: Socket): V | undefined {
    return this.#visitors.get(socket);
  }

  /**
   * Gives a place to a new connection. Whoever is not trusted yet takes none from those who may be: where
   * there is no other, the oldest of them goes.
   * @param create called once there is a place
   * @returns whether there was one
   */
  give(socket: Socket, create: () => V): boolean {
    const { max, onFull } = this.#options;
    if (this.#visitors.size >= max && !this.#makeRoom()) {
      if (!this.#isFull) onFull();
      this.#isFull = true;
      return false;
    }
    this.#visitors.set(socket, create());
    socket.on("close", () => {
      this.#visitors.delete(socket);
      if (this.#visitors.size <= max / 2) this.#isFull = false;
    });
    return true;
  }

  #makeRoom(): boolean {
    for (const [socket, { isTrusted }] of this.#visitors) {
      if (isTrusted) continue;
      socket.destroy();
      this.#visitors.delete(socket);
      return true;
    }
    return false;
  }
}
