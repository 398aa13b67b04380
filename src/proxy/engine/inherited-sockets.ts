import { close } from "../../platform/linux/io-calls.ts";

/** Listening sockets that another process gave: their descriptors, by id. */
export type InheritedSockets = ReadonlyMap<string, readonly number[]>;

/** Those that no listener has claimed yet. */
export class UnclaimedSockets {
  readonly #sockets: Map<string, readonly number[]>;

  constructor(inherited: InheritedSockets) {
    this.#sockets = new Map(inherited);
  }

  /** The descriptors are the caller's now; undefined where nobody gave any. */
  claim(id: string): readonly [number, ...number[]] | undefined {
    const [first, ...others] = this.#sockets.get(id) ?? [];
    this.#sockets.delete(id);
    return first === undefined ? undefined : [first, ...others];
  }

  close(): void {
    for (const descriptor of [...this.#sockets.values()].flat()) close(descriptor);
    this.#sockets.clear();
  }
}
