import type { Endpoint } from "../../src/core/model/endpoint.ts";
import type { GlobalStore } from "../../src/core/store/global-store.ts";
import type { NodeEndpoint, Op } from "../../src/core/view/ops.ts";
import { OWNER } from "./cluster-store.ts";
import { createRandom } from "./random.ts";

const SEED = 977;

/** One endpoint at a time, picked by lot among those that a node uses, gets another weight. */
export class EndpointChanges {
  readonly #store: GlobalStore;
  readonly #paths: readonly string[];
  readonly #current: Map<string, Endpoint>;
  readonly #random = createRandom(SEED);

  /** @param ops the whole state of the node */
  constructor(store: GlobalStore, ops: readonly Op[], isWanted: (item: NodeEndpoint) => boolean) {
    this.#store = store;
    this.#current = new Map(
      ops.flatMap((op) =>
        op.op === "set" && op.set === "endpoints" && isWanted(op.value)
          ? [[op.path, op.value.endpoint]]
          : [],
      ),
    );
    this.#paths = [...this.#current.keys()];
  }

  /** Picks the next one: its path, and the function that writes the change. */
  next(): { readonly path: string; readonly commit: () => void } {
    const path = this.#paths[Math.floor(this.#random() * this.#paths.length)];
    const before = path === undefined ? undefined : this.#current.get(path);
    if (path === undefined || before === undefined) throw new Error("no endpoint to change");
    const after = { ...before, weight: before.weight + 1 };
    this.#current.set(path, after);
    return { path, commit: () => this.#store.transact(OWNER, (tx) => tx.set(after)) };
  }
}
