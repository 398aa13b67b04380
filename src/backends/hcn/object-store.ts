import { DiffStore } from "../../core/store/diff-store.ts";

/** One object that may differ from what HNS holds. */
export interface ObjectChange<V> {
  readonly id: string;
  /** Undefined where nobody needs it. */
  readonly wanted: V | undefined;
  /** What HNS holds; undefined where it holds none. */
  readonly known: V | undefined;
}

export interface ObjectStoreOptions<V> {
  /** Whether what HNS holds is what is wanted. */
  readonly isSame: (wanted: V, known: V) => boolean;
  /** Told of every change of what HNS holds. */
  readonly onKnown?: (before: V | undefined, after: V | undefined) => void;
}

/**
 * A diff store of objects that services share. What a service needs is put in as its group; an object
 * exists as long as one of them needs it. Beside it stands what HNS is known to hold, call by call, so that
 * a sync that failed half-way is taken up where it stopped.
 */
export class ObjectStore<V extends object> {
  readonly #isSame: (wanted: V, known: V) => boolean;
  readonly #onKnown: (before: V | undefined, after: V | undefined) => void;
  readonly #diffs: DiffStore<string, string, V>;
  /** What each service needed last. */
  readonly #needs = new Map<string, ReadonlyMap<string, V>>();
  /** Who needs an object, and as what. */
  readonly #holders = new Map<string, Map<string, V>>();
  readonly #known = new Map<string, V>();
  /** A call about it failed: HNS may hold the one or the other. */
  readonly #uncertain = new Set<string>();
  /** Not yet as wanted. */
  readonly #owed = new Set<string>();

  constructor({ isSame, onKnown }: ObjectStoreOptions<V>) {
    this.#isSame = isSame;
    this.#onKnown = onKnown ?? (() => undefined);
    this.#diffs = new DiffStore(isSame);
  }

  /** How many HNS is known to hold. */
  get size(): number {
    return this.#known.size;
  }

  /** Says all that a service needs from now on; empty where it is gone. */
  replace(service: string, needs: ReadonlyMap<string, V>): void {
    for (const id of this.#needs.get(service)?.keys() ?? []) {
      const holders = this.#holders.get(id);
      holders?.delete(service);
      if (holders?.size === 0) this.#holders.delete(id);
    }
    for (const [id, value] of needs) {
      const holders = this.#holders.get(id);
      if (holders === undefined) this.#holders.set(id, new Map([[service, value]]));
      else holders.set(service, value);
    }
    if (needs.size === 0) this.#needs.delete(service);
    else this.#needs.set(service, needs);
    this.#diffs.replace(service, needs);
  }

  /** All that may differ from what HNS holds; what the diff store told of is owed from here on. */
  changes(): readonly ObjectChange<V>[] {
    const { deleted, created, updated } = this.#diffs.diff();
    for (const id of deleted) this.#owed.add(id);
    for (const [id] of created) this.#owed.add(id);
    for (const [id] of updated) this.#owed.add(id);
    this.#diffs.commit();
    for (const id of this.#owed) if (this.#isSettled(id)) this.#owed.delete(id);
    return [...this.#owed].map((id) => this.change(id));
  }

  change(id: string): ObjectChange<V> {
    return { id, wanted: this.#wanted(id), known: this.#known.get(id) };
  }

  known(id: string): V | undefined {
    return this.#known.get(id);
  }

  isUncertain(id: string): boolean {
    return this.#uncertain.has(id);
  }

  get hasUncertain(): boolean {
    return this.#uncertain.size > 0;
  }

  /** HNS holds that now, or nothing. */
  setKnown(id: string, value: V | undefined): void {
    this.#uncertain.delete(id);
    const before = this.#known.get(id);
    if (value === undefined) this.#known.delete(id);
    else this.#known.set(id, value);
    this.#onKnown(before, value);
    if (!this.#isSettled(id)) this.#owed.add(id);
  }

  setUncertain(id: string): void {
    this.#uncertain.add(id);
    this.#owed.add(id);
  }

  /** HNS was read anew: it holds these, and no others. */
  adopt(found: ReadonlyMap<string, V>): void {
    for (const id of [...this.#known.keys()]) if (!found.has(id)) this.setKnown(id, undefined);
    for (const [id, value] of found) this.setKnown(id, value);
    this.#uncertain.clear();
    for (const id of this.#holders.keys()) if (!this.#isSettled(id)) this.#owed.add(id);
  }

  /** Notes that what is not among these ids is gone. @returns how many */
  missingFrom(ids: ReadonlySet<string>): number {
    const gone = [...this.#known.keys()].filter((id) => !ids.has(id));
    for (const id of gone) this.setKnown(id, undefined);
    return gone.length;
  }

  #isSettled(id: string): boolean {
    if (this.#uncertain.has(id)) return false;
    const wanted = this.#wanted(id);
    const known = this.#known.get(id);
    if (wanted === undefined || known === undefined) return wanted === known;
    return this.#isSame(wanted, known);
  }

  /** Of several that want it differently, the first by name has it. */
  #wanted(id: string): V | undefined {
    const holders = this.#holders.get(id);
    if (holders === undefined) return undefined;
    let first: string | undefined;
    for (const service of holders.keys()) {
      if (first === undefined || service < first) first = service;
    }
    return first === undefined ? undefined : holders.get(first);
  }
}
