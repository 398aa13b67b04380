import {
  describe,
  type Kind,
  keyOf,
  type ModelObject,
  type ObjectOf,
} from "../../core/model/object.ts";
import { Turns } from "../../core/turns.ts";
import type { Ledger, LedgerPlan, ObjectName } from "./ledger.ts";

/** A ledger that keeps nothing longer than itself. */
export class MemoryLedger implements Ledger {
  readonly #objects = new Map<string, ModelObject>();
  readonly #secrets = new Map<string, string>();
  readonly #turns = new Turns();
  #onChange: (names: readonly ObjectName[]) => void = () => undefined;

  get<K extends Kind>(kind: K, key: string): ObjectOf<K> | undefined {
    const object = this.#objects.get(describe(kind, key));
    return isOfKind(object, kind) ? object : undefined;
  }

  objects(): Iterable<ModelObject> {
    return this.#objects.values();
  }

  secret(name: string): string | undefined {
    return this.#secrets.get(name);
  }

  secrets(): ReadonlyMap<string, string> {
    return this.#secrets;
  }

  change<T>(plan: () => LedgerPlan<T>): Promise<T> {
    return this.#turns.take(async () => {
      const { change, result } = plan();
      const { set = [], delete: gone = [], secrets = new Map() } = change;
      for (const { kind, key } of gone) this.#objects.delete(describe(kind, key));
      for (const object of set) this.#objects.set(describe(object.kind, keyOf(object)), object);
      for (const [name, text] of secrets) {
        if (text === undefined) this.#secrets.delete(name);
        else this.#secrets.set(name, text);
      }
      this.#onChange([
        ...gone,
        ...set.map((object) => ({ kind: object.kind, key: keyOf(object) })),
      ]);
      return result;
    });
  }

  follow(onChange: (names: readonly ObjectName[]) => void): void {
    this.#onChange = onChange;
  }

  async close(): Promise<void> {
    await this.#turns.over();
  }
}

function isOfKind<K extends Kind>(object: ModelObject | undefined, kind: K): object is ObjectOf<K> {
  return object?.kind === kind;
}
