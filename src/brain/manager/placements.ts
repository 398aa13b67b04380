import type { Endpoint } from "../../core/model/endpoint.ts";
import { groupKeyOf, keyOf } from "../../core/model/object.ts";

/** Which instances are on a node, and which are of a group. */
export class Placements {
  readonly #byNode = new Index();
  readonly #byGroup = new Index();
  readonly #endpoints = new Map<string, Endpoint>();

  /** @param endpoint undefined where it is gone */
  set(key: string, endpoint: Endpoint | undefined): void {
    const before = this.#endpoints.get(key);
    if (before !== undefined) {
      this.#byNode.delete(before.node, key);
      this.#byGroup.delete(groupKeyOf(before), key);
      this.#endpoints.delete(key);
    }
    if (endpoint === undefined) return;
    this.#endpoints.set(keyOf(endpoint), endpoint);
    this.#byNode.add(endpoint.node, key);
    this.#byGroup.add(groupKeyOf(endpoint), key);
  }

  on(node: string): readonly Endpoint[] {
    return this.#of(this.#byNode.get(node));
  }

  inGroup(group: string): readonly Endpoint[] {
    return this.#of(this.#byGroup.get(group));
  }

  #of(keys: Iterable<string>): readonly Endpoint[] {
    return [...keys].flatMap((key) => this.#endpoints.get(key) ?? []);
  }
}

class Index {
  readonly #sets = new Map<string, Set<string>>();

  get(name: string): Iterable<string> {
    return this.#sets.get(name) ?? [];
  }

  add(name: string, key: string): void {
    const set = this.#sets.get(name) ?? new Set();
    this.#sets.set(name, set.add(key));
  }

  delete(name: string, key: string): void {
    const set = this.#sets.get(name);
    set?.delete(key);
    if (set?.size === 0) this.#sets.delete(name);
  }
}
