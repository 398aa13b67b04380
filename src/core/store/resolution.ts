import { CoreError } from "../errors.ts";
import { deepEqual } from "../model/equal.ts";
import { describe, type Kind, keyOf, type ModelObject } from "../model/object.ts";
import { type Claim, claimsOf, type Holder } from "./claims.ts";
import type { Tables } from "./tables.ts";

/** An object in force, and the source that wrote it. */
export interface Owned {
  readonly owner: string;
  readonly object: ModelObject;
}

/** A claim that lost against an owner earlier in the order. */
export interface Conflict extends Holder {
  /** What is claimed: an address, or the object's own key. */
  readonly what: string;
  readonly heldBy: string;
}

/** What a transaction asks for: objects of one owner; undefined deletes. */
export type Wishes = ReadonlyMap<Kind, ReadonlyMap<string, ModelObject | undefined>>;

/** One object's change, as it comes out of a transaction. */
export interface ObjectChange {
  readonly action: "create" | "update" | "delete";
  readonly kind: Kind;
  readonly key: string;
  /** Whose it is, or was where it is deleted. */
  readonly owner: string;
  readonly before: ModelObject | undefined;
  readonly after: ModelObject | undefined;
}

/** Who holds what a claim names. */
export interface Claimant {
  readonly holder: Holder;
  readonly isShared: boolean;
}

export interface Shadow {
  readonly wish: Owned;
  readonly conflict: Conflict;
}

/** Errors name at most this many clashes. */
const MAX_NAMED = 20;

/** One transaction's outcome in the making: an overlay over what is in force. */
export class Resolution {
  readonly #inForce: Tables;
  readonly #holders: Map<string, readonly Claimant[]>;
  readonly #shadows: Map<string, Shadow>;
  readonly #order: ReadonlyMap<string, number>;

  readonly #changes: ObjectChange[] = [];
  readonly #placed = new Map<Kind, Map<string, Owned | undefined>>();
  readonly #claims = new Map<string, readonly Claimant[]>();
  readonly #shadowed = new Map<string, Shadow | undefined>();
  readonly #refused: Conflict[] = [];
  /** What the owner's waiting objects claim, once that matters. */
  #ownWaiting: Map<string, readonly Claimant[]> | undefined;
  #released = false;

  constructor(
    inForce: Tables,
    holders: Map<string, readonly Claimant[]>,
    shadows: Map<string, Shadow>,
    order: ReadonlyMap<string, number>,
  ) {
    this.#inForce = inForce;
    this.#holders = holders;
    this.#shadows = shadows;
    this.#order = order;
  }

  /** The real changes; what is equal to what is in force is none. */
  get changes(): readonly ObjectChange[] {
    return this.#changes;
  }

  /** What is not to be decided by order. */
  get refused(): readonly Conflict[] {
    return this.#refused;
  }

  /** The short way for what can clash only by its key, which is refused. */
  placeUncontested(
    owner: string,
    kind: Kind,
    byKey: ReadonlyMap<string, ModelObject | undefined>,
  ): void {
    const own = this.#inForce.of(owner, kind);
    const others = this.#inForce.othersWith(owner, kind);
    for (const [key, object] of byKey) {
      const other = others.find((one) => this.#inForce.of(one, kind).has(key));
      if (other === undefined) this.#note(kind, key, owner, own.get(key), object);
      else if (object !== undefined) {
        const holder = { owner: other, kind, key };
        this.#refused.push(conflictOf({ owner, object }, { holder, what: describe(kind, key) }));
      }
    }
  }

  placeContested(owner: string, kinds: readonly Kind[], wishes: Wishes): void {
    const wanted: Owned[] = [];
    for (const kind of kinds) {
      for (const [key, object] of wishes.get(kind) ?? []) {
        if (object === undefined) this.#withdraw(owner, kind, key);
        else if (!this.#isInForce(owner, key, object)) {
          this.#release(owner, kind, key);
          wanted.push({ owner, object });
        }
      }
    }
    for (const wish of wanted) this.#placeAsked(wish);
    this.#placeWaiting();
    for (const [kind, byKey] of this.#placed) {
      for (const [key, placed] of byKey) this.#noteOutcome(kind, key, placed);
    }
  }

  #isInForce(owner: string, key: string, object: ModelObject): boolean {
    return deepEqual(this.#inForce.of(owner, object.kind).get(key), object);
  }

  #noteOutcome(kind: Kind, key: string, placed: Owned | undefined): void {
    const before = this.#inForce.get(kind, key);
    const from = this.#inForce.ownerOf(kind, key);
    const owner = placed?.owner ?? from ?? "";
    if (placed !== undefined && before !== undefined && from !== owner) {
      this.#changes.push({ action: "update", kind, key, owner, before, after: placed.object });
    } else this.#note(kind, key, owner, before, placed?.object);
  }

  #note(
    kind: Kind,
    key: string,
    owner: string,
    before: ModelObject | undefined,
    after: ModelObject | undefined,
  ): void {
    if (after === undefined) {
      if (before === undefined) return;
      this.#changes.push({ action: "delete", kind, key, owner, before, after });
    } else if (before === undefined) {
      this.#changes.push({ action: "create", kind, key, owner, before, after });
    } else if (!deepEqual(before, after)) {
      this.#changes.push({ action: "update", kind, key, owner, before, after });
    }
  }

  /** The owner no longer wants the object, in force or waiting. */
  #withdraw(owner: string, kind: Kind, key: string): void {
    this.#release(owner, kind, key);
    if (this.#at(kind, key)?.owner === owner) this.#put(kind, key, undefined);
  }

  /** Frees the addresses of the owner's present object, so that others of the transaction can have them. */
  #release(owner: string, kind: Kind, key: string): void {
    this.#stopWaiting(owner, kind, key);
    const present = this.#at(kind, key);
    if (present?.owner === owner) this.#free(present.object);
  }

  #placeAsked(wish: Owned): void {
    const clash = this.#clashWithin(wish);
    if (clash === undefined) this.#place(wish);
    else this.#refused.push(clash);
  }

  /** With another object of the same owner, be it one that waits: no order decides that. */
  #clashWithin(wish: Owned): Conflict | undefined {
    if (this.#order.size === 0) return undefined;
    const claims = claimsOf(wish.object);
    const held = this.#blockersOf(wish, claims).find(({ holder }) => holder.owner === wish.owner);
    if (held !== undefined) return conflictOf(wish, held);
    const waiting = this.#waitingOf(wish.owner);
    if (waiting.size === 0) return undefined;
    for (const { what, id, isShared } of claims) {
      const other = waiting.get(id)?.find((claimant) => !(isShared && claimant.isShared));
      if (other !== undefined) return conflictOf(wish, { holder: other.holder, what });
    }
    return undefined;
  }

  /** What the owner's objects claim that wait; those of the transaction are added as they come to wait. */
  #waitingOf(owner: string): Map<string, readonly Claimant[]> {
    if (this.#ownWaiting === undefined) {
      this.#ownWaiting = new Map();
      for (const [id, shadow] of this.#shadows) {
        if (!this.#shadowed.has(id) && shadow.wish.owner === owner) this.#noteWaiting(shadow.wish);
      }
    }
    return this.#ownWaiting;
  }

  #noteWaiting({ owner, object }: Owned): void {
    const holder = { owner, kind: object.kind, key: keyOf(object) };
    for (const { id, isShared } of claimsOf(object)) {
      const others = this.#ownWaiting?.get(id) ?? [];
      this.#ownWaiting?.set(id, [...others, { holder, isShared }]);
    }
  }

  #place(wish: Owned): void {
    const claims = claimsOf(wish.object);
    const blockers = this.#blockersOf(wish, claims);
    const stronger = blockers.find((by) => !this.#precedes(wish.owner, by.holder.owner));
    if (stronger === undefined) {
      for (const { holder } of blockers) this.#evict(holder, wish);
      this.#hold(wish, claims);
    } else if (this.#order.size === 0) this.#refused.push(conflictOf(wish, stronger));
    else {
      this.#shade(wish, conflictOf(wish, stronger));
      this.#noteWaiting(wish);
    }
  }

  /** Gives what became free to those that wait for it, in the owners' order. */
  #placeWaiting(): void {
    while (this.#released) {
      this.#released = false;
      const ids = new Set([...this.#shadows.keys(), ...this.#shadowed.keys()]);
      const waiting = [...ids]
        .map((id) => (this.#shadowed.has(id) ? this.#shadowed.get(id) : this.#shadows.get(id)))
        .filter((shadow) => shadow !== undefined)
        .sort((a, b) => this.#rank(a.wish.owner) - this.#rank(b.wish.owner));
      for (const { wish } of waiting) this.#place(wish);
    }
  }

  /** @throws CoreError where a clash is not to be decided by order */
  refuseClashes(): void {
    const [first] = this.#refused;
    if (first === undefined) return;
    const lines = this.#refused
      .slice(0, MAX_NAMED)
      .map(
        (c) => `${describe(c.kind, c.key)} of ${c.owner} claims ${c.what}, which ${c.heldBy} holds`,
      );
    const more = this.#refused.length - lines.length;
    if (more > 0) lines.push(`and ${more} more`);
    const isKey = first.what === describe(first.kind, first.key);
    throw new CoreError(isKey ? "ERR_KEY_TAKEN" : "ERR_ADDRESS_TAKEN", lines.join("; "));
  }

  /** Makes it so for the claims and for those that wait; what is in force is the caller's to change. */
  commit(): void {
    for (const [id, claimants] of this.#claims) {
      if (claimants.length === 0) this.#holders.delete(id);
      else this.#holders.set(id, claimants);
    }
    for (const [id, shadow] of this.#shadowed) {
      if (shadow === undefined) this.#shadows.delete(id);
      else this.#shadows.set(id, shadow);
    }
  }

  #blockersOf(
    wish: Owned,
    claims: readonly Claim[],
  ): { readonly holder: Holder; readonly what: string }[] {
    const { kind } = wish.object;
    const key = keyOf(wish.object);
    const blockers: { holder: Holder; what: string }[] = [];
    const present = this.#at(kind, key);
    if (present !== undefined && present.owner !== wish.owner) {
      blockers.push({ holder: { owner: present.owner, kind, key }, what: describe(kind, key) });
    }
    for (const { what, id, isShared } of claims) {
      for (const claimant of this.#claimantsOf(id)) {
        if (isShared && claimant.isShared) continue;
        if (isSame(claimant.holder, kind, key)) continue;
        blockers.push({ holder: claimant.holder, what });
      }
    }
    return blockers;
  }

  #hold(wish: Owned, claims: readonly Claim[]): void {
    const { kind } = wish.object;
    const key = keyOf(wish.object);
    const holder = { owner: wish.owner, kind, key };
    for (const { id, isShared } of claims) {
      const others = this.#claimantsOf(id).filter((other) => !isSame(other.holder, kind, key));
      this.#claims.set(id, [...others, { holder, isShared }]);
    }
    this.#put(kind, key, wish);
    this.#stopWaiting(wish.owner, kind, key);
  }

  #stopWaiting(owner: string, kind: Kind, key: string): void {
    if (this.#shadows.size === 0 && this.#shadowed.size === 0) return;
    const id = shadowId(owner, kind, key);
    if (this.#shadows.has(id) || this.#shadowed.has(id)) this.#shadowed.set(id, undefined);
  }

  #evict(holder: Holder, by: Owned): void {
    const loser = this.#at(holder.kind, holder.key);
    if (loser === undefined || loser.owner !== holder.owner) return;
    this.#free(loser.object);
    this.#put(holder.kind, holder.key, undefined);
    const winner = { owner: by.owner, kind: by.object.kind, key: keyOf(by.object) };
    const what = this.#contested(loser.object, by.object);
    this.#shade(loser, conflictOf(loser, { holder: winner, what }));
  }

  #contested(loser: ModelObject, winner: ModelObject): string {
    const ids = new Set(claimsOf(winner).map((claim) => claim.id));
    const contested = claimsOf(loser).find((claim) => ids.has(claim.id));
    return contested?.what ?? describe(loser.kind, keyOf(loser));
  }

  #shade(wish: Owned, conflict: Conflict): void {
    const { kind } = wish.object;
    const key = keyOf(wish.object);
    if (this.#at(kind, key)?.owner === wish.owner) {
      this.#free(wish.object);
      this.#put(kind, key, undefined);
    }
    this.#shadowed.set(shadowId(wish.owner, kind, key), { wish, conflict });
  }

  #free(object: ModelObject): void {
    this.#released = true;
    const key = keyOf(object);
    for (const { id } of claimsOf(object)) {
      const others = this.#claimantsOf(id).filter(
        ({ holder }) => !isSame(holder, object.kind, key),
      );
      this.#claims.set(id, others);
    }
  }

  #claimantsOf(id: string): readonly Claimant[] {
    return this.#claims.get(id) ?? this.#holders.get(id) ?? [];
  }

  #at(kind: Kind, key: string): Owned | undefined {
    const placed = this.#placed.get(kind);
    if (placed?.has(key)) return placed.get(key);
    const object = this.#inForce.get(kind, key);
    const owner = this.#inForce.ownerOf(kind, key);
    return object === undefined || owner === undefined ? undefined : { owner, object };
  }

  #put(kind: Kind, key: string, owned: Owned | undefined): void {
    const placed = this.#placed.get(kind);
    if (placed === undefined) this.#placed.set(kind, new Map([[key, owned]]));
    else placed.set(key, owned);
  }

  #precedes(owner: string, other: string): boolean {
    return this.#rank(owner) < this.#rank(other);
  }

  /** Owners that the order does not name come last, all alike. */
  #rank(owner: string): number {
    return this.#order.get(owner) ?? this.#order.size;
  }
}

function conflictOf(wish: Owned, by: { readonly holder: Holder; readonly what: string }): Conflict {
  return {
    owner: wish.owner,
    kind: wish.object.kind,
    key: keyOf(wish.object),
    what: by.what,
    heldBy: `${describe(by.holder.kind, by.holder.key)} of ${by.holder.owner}`,
  };
}

function isSame(holder: Holder, kind: Kind, key: string): boolean {
  return holder.kind === kind && holder.key === key;
}

function shadowId(owner: string, kind: Kind, key: string): string {
  return `${owner}\0${kind}\0${key}`;
}
