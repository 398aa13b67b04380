import { setImmediate as pause } from "node:timers/promises";
import type { UnservedListener } from "../../backends/backend.ts";
import { CONTROL_OWNER, type DesiredChange, type RuntimeChange } from "../../control/world.ts";
import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { deepEqual } from "../../core/model/equal.ts";
import { describe, keyOf, type ModelObject } from "../../core/model/object.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import { Turns } from "../../core/turns.ts";
import type { Journal } from "../journal/journal.ts";
import type { SyncProgress } from "../sync-progress.ts";
import { blameFor, type Troubles, troublesOf } from "./blame.ts";

export interface CommitterOptions {
  readonly store: GlobalStore;
  readonly journal: Journal;
  readonly progress: SyncProgress;
  /** What data planes do not serve at this moment. */
  readonly unserved: () => readonly UnservedListener[];
  readonly log: Log;
  /** So long data planes may take; then the change is acknowledged with a note. */
  readonly limitMs?: number;
}

const DEFAULT_LIMIT_MS = 10_000;
/** After so many others go on; all come into force at once nevertheless. */
const OBJECTS_A_TURN = 2000;
const CHANGED_MEANWHILE = "somebody else has changed it meanwhile; look at it, and try again";
const NOT_YET = "a data plane has not applied it yet; portolan status tells when it has";

/**
 * Makes changes true, one after the other: the store, then the data planes, then the journal. What a
 * data plane can not do, or the disk can not keep, is taken back before anybody is told that it is so:
 * a change that was refused never comes to the disk.
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #turns = new Turns();
  #whyNot: string | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  /** What commands made before comes into force. @throws CoreError ERR_KEY_TAKEN, ERR_ADDRESS_TAKEN */
  load(): void {
    const { store, journal } = this.#options;
    store.transact(CONTROL_OWNER, (transaction) => transaction.replaceAll(journal.kept.objects()));
  }

  /**
   * Refused where its objects are not any more as they were when it was asked for.
   * @returns what is still under way of it, for people; empty where nothing is
   */
  commit(change: DesiredChange): Promise<string> {
    // Where nobody is before it, nobody can change them before its turn.
    const before = this.#turns.isIdle ? undefined : this.#presentOf(change);
    return this.#inTurn(async () => {
      if (before !== undefined) this.#assertPresent(change, before);
      return this.#commit(change);
    });
  }

  /** @returns as `commit` */
  replace(objects: readonly ModelObject[]): Promise<string> {
    return this.#inTurn(() => this.#commit(this.#replacement(objects)));
  }

  keep(change: RuntimeChange): Promise<void> {
    return this.#inTurn(() => this.#options.journal.keepEntries(change));
  }

  /** Does something between changes; refused as they are. */
  between(act: () => Promise<void>): Promise<void> {
    return this.#inTurn(act);
  }

  /** From when it settles, nothing is changed or written any more: it is refused with this reason. */
  async stop(whyNot: string): Promise<void> {
    this.#whyNot = whyNot;
    await this.#turns.over();
  }

  resume(): void {
    this.#whyNot = undefined;
  }

  #assertPresent(change: DesiredChange, before: readonly (ModelObject | undefined)[]): void {
    if (this.#presentOf(change).some((object, index) => object !== before[index])) {
      throw new CoreError("ERR_REFUSED", CHANGED_MEANWHILE);
    }
  }

  #presentOf({ set, delete: gone }: DesiredChange): readonly (ModelObject | undefined)[] {
    const { kept } = this.#options.journal;
    return [
      ...set.map((object) => kept.get(object.kind, keyOf(object))),
      ...gone.map(({ kind, key }) => kept.get(kind, key)),
    ];
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    return this.#turns.take(async () => {
      if (this.#whyNot !== undefined) throw new CoreError("ERR_REFUSED", this.#whyNot);
      return act();
    });
  }

  /** The fewest changes that leave just these. */
  #replacement(objects: readonly ModelObject[]): DesiredChange {
    const { kept } = this.#options.journal;
    const wanted = new Set(objects.map((object) => describe(object.kind, keyOf(object))));
    return {
      set: objects.filter((object) => !deepEqual(kept.get(object.kind, keyOf(object)), object)),
      delete: kept
        .objects()
        .map((object) => ({ kind: object.kind, key: keyOf(object) }))
        .filter(({ kind, key }) => !wanted.has(describe(kind, key))),
    };
  }

  async #commit(change: DesiredChange): Promise<string> {
    if (change.set.length + change.delete.length === 0) return "";
    const { store, journal, log } = this.#options;
    const before = this.#troubles();
    const isTried = await this.#transact(change);
    try {
      const isAsked = isTried && change.tolerates !== true;
      const blame = isAsked ? blameFor(change, store, before, this.#troubles()) : undefined;
      if (blame !== undefined) throw blame;
      await journal.keepObjects(change);
    } catch (error) {
      // What is kept is still as it was before.
      await this.#transact(journal.kept.inverseOf(change));
      throw error;
    }
    if (isTried) return "";
    log.warn({}, `a change is kept, but ${NOT_YET}`);
    return NOT_YET;
  }

  /** @returns whether all data planes have tried it in time */
  async #transact({ set, delete: gone }: DesiredChange): Promise<boolean> {
    const { store, progress, limitMs = DEFAULT_LIMIT_MS } = this.#options;
    const { transaction, commit } = store.begin(CONTROL_OWNER);
    for (const { kind, key } of gone) transaction.delete(kind, key);
    for (const [index, object] of set.entries()) {
      if (index % OBJECTS_A_TURN === OBJECTS_A_TURN - 1) await pause();
      transaction.set(object);
    }
    const { revision } = commit();
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), limitMs);
    try {
      await progress.tried(revision, limit.signal);
      return true;
    } catch (error) {
      if (!limit.signal.aborted) throw error;
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  #troubles(): Troubles {
    const { progress, unserved } = this.#options;
    return troublesOf(progress.failures(), unserved());
  }
}
