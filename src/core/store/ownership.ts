import type { Kind, ModelObject } from "../model/object.ts";
import {
  type Claimant,
  type Conflict,
  Resolution,
  type Shadow,
  type Wishes,
} from "./resolution.ts";
import type { Tables } from "./tables.ts";

/** The kinds that claim addresses beside their key. */
const CLAIMING_KINDS: ReadonlySet<Kind> = new Set(["Service", "Listener"]);

/**
 * Decides whose object is in force where owners claim the same key or address. Without an order of
 * owners a clash is refused. With one the earlier owner wins, and the object of the other one waits,
 * whole, until what it claims is free. A clash among the objects of one owner is always refused.
 */
export class Ownership {
  readonly #order: ReadonlyMap<string, number>;
  readonly #inForce: Tables;
  readonly #holders = new Map<string, readonly Claimant[]>();
  readonly #shadows = new Map<string, Shadow>();

  constructor(order: readonly string[], inForce: Tables) {
    this.#order = new Map(order.map((owner, rank) => [owner, rank]));
    this.#inForce = inForce;
  }

  get isOrdered(): boolean {
    return this.#order.size > 0;
  }

  conflicts(): readonly Conflict[] {
    return [...this.#shadows.values()].map((shadow) => shadow.conflict);
  }

  /** The objects of an owner that wait for another's to go. */
  waiting(owner: string): readonly ModelObject[] {
    return [...this.#shadows.values()]
      .filter((shadow) => shadow.wish.owner === owner)
      .map((shadow) => shadow.wish.object);
  }

  /**
   * What the wishes of `owner` come to. Nothing is changed before `commit` of the result.
   * @throws CoreError ERR_KEY_TAKEN or ERR_ADDRESS_TAKEN where a clash is refused
   */
  resolve(owner: string, wishes: Wishes): Resolution {
    const resolution = this.#place(owner, wishes);
    resolution.refuseClashes();
    return resolution;
  }

  /** The same with what clashes left out: that stays as it is. */
  resolveFitting(owner: string, wishes: Wishes): Fitting {
    const left = new Map([...wishes].map(([kind, byKey]) => [kind, new Map(byKey)]));
    const refused: Conflict[] = [];
    for (;;) {
      const resolution = this.#place(owner, left);
      if (resolution.refused.length === 0) return { resolution, refused };
      // What one of them would have given up, another may have counted on: all is looked at again.
      for (const clash of resolution.refused) left.get(clash.kind)?.delete(clash.key);
      refused.push(...resolution.refused);
    }
  }

  #place(owner: string, wishes: Wishes): Resolution {
    const resolution = new Resolution(this.#inForce, this.#holders, this.#shadows, this.#order);
    const contested: Kind[] = [];
    for (const [kind, byKey] of wishes) {
      if (byKey.size === 0) continue;
      if (this.#order.size > 0 || CLAIMING_KINDS.has(kind)) contested.push(kind);
      else resolution.placeUncontested(owner, kind, byKey);
    }
    resolution.placeContested(owner, contested, wishes);
    return resolution;
  }
}

/** What a transaction comes to without what clashes. */
export interface Fitting {
  readonly resolution: Resolution;
  readonly refused: readonly Conflict[];
}
