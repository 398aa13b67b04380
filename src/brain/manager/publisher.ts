import type { Log } from "../../core/log.ts";
import { keyOf, type ModelObject } from "../../core/model/object.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import type { Ledger, ObjectName, Pulse } from "./ledger.ts";
import { MANAGER_OWNER } from "./owner.ts";
import { Placements } from "./placements.ts";

/**
 * Brings what the ledger keeps into the store, as it is while nodes live and die: a dead node stays, with its
 * networks, and says so; its instances are kept, but in no table until it lives again.
 */
export class Publisher {
  readonly placements: Placements = new Placements();
  readonly #store: GlobalStore;
  readonly #ledger: Ledger;
  readonly #pulse: Pulse;
  readonly #log: Log;

  constructor(store: GlobalStore, ledger: Ledger, pulse: Pulse, log: Log) {
    this.#store = store;
    this.#ledger = ledger;
    this.#pulse = pulse;
    this.#log = log;
    store.register(MANAGER_OWNER);
    this.#publish([...ledger.objects()].map(nameOf));
    store.markSynced(MANAGER_OWNER);
    ledger.follow((names) => this.#publish(names));
    pulse.follow((node) => this.#onPulse(node));
  }

  #onPulse(node: string): void {
    if (this.#ledger.get("Node", node) === undefined) return;
    const instances = this.placements.on(node);
    const isAlive = this.#pulse.isAlive(node);
    const fields = { node, instances: instances.length };
    if (isAlive) this.#log.info(fields, "the node is alive");
    else this.#log.warn(fields, "the node is dead: its instances leave all tables");
    this.#publish([{ kind: "Node", key: node }, ...instances.map(nameOf)]);
  }

  #publish(names: readonly ObjectName[]): void {
    for (const { kind, key } of names) {
      if (kind === "Endpoint") this.placements.set(key, this.#ledger.get(kind, key));
    }
    const { refused } = this.#store.transactFitting(MANAGER_OWNER, (transaction) => {
      for (const { kind, key } of names) {
        const object = this.#inForce(this.#ledger.get(kind, key));
        if (object === undefined) transaction.delete(kind, key);
        else transaction.set(object);
      }
    });
    for (const { kind, key, what, heldBy } of refused) {
      this.#log.warn({ object: `${kind} ${key}` }, `${what} is held by ${heldBy}: it is left out`);
    }
  }

  #inForce(object: ModelObject | undefined): ModelObject | undefined {
    if (object?.kind === "Node") return { ...object, alive: this.#pulse.isAlive(object.name) };
    if (object?.kind !== "Endpoint") return object;
    return this.#pulse.isAlive(object.node) ? object : undefined;
  }
}

function nameOf(object: ModelObject): ObjectName {
  return { kind: object.kind, key: keyOf(object) };
}
