import type { KernelMap } from "./kernel-maps.ts";

/**
 * A map that has all that it should, or is not used any more: the first change that fails is told, and nothing is
 * written after it by anybody who shares `guard`.
 */
export interface MapGuard {
  isBroken(): boolean;
  break(error: unknown): void;
}

export class GuardedMap implements KernelMap {
  readonly #map: KernelMap;
  readonly #guard: MapGuard;

  constructor(map: KernelMap, guard: MapGuard) {
    this.#map = map;
    this.#guard = guard;
  }

  set(key: Uint8Array, value: Uint8Array): void {
    this.#try(() => this.#map.set(key, value));
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#try(() => this.#map.get(key));
  }

  delete(key: Uint8Array): void {
    this.#try(() => this.#map.delete(key));
  }

  #try<V>(call: () => V): V | undefined {
    if (this.#guard.isBroken()) return undefined;
    try {
      return call();
    } catch (error) {
      this.#guard.break(error);
      return undefined;
    }
  }
}
