import { CoreError } from "../errors.ts";
import {
  describe,
  KINDS,
  type Kind,
  keyOf,
  type ModelObject,
  type ObjectOf,
} from "../model/object.ts";
import { type Cursor, History } from "./history.ts";
import { Indexes } from "./indexes.ts";
import { Ownership } from "./ownership.ts";
import type { Conflict, ObjectChange } from "./resolution.ts";
import type { GlobalState, ServiceState } from "./state.ts";
import { Tables } from "./tables.ts";
import { StagedTransaction, type Transaction } from "./transaction.ts";

export interface GlobalStoreOptions {
  /** The owners in order: the first wins a clash. Empty: a clash is refused. */
  readonly ownerOrder?: readonly string[];
  /** How many replaced values are kept for watchers that lag behind. */
  readonly historyLimit?: number;
}

/** What a transaction came to; no changes and the revision as it was where it changed nothing. */
export interface Commit {
  readonly owner: string;
  readonly revision: number;
  readonly changes: readonly ObjectChange[];
}

/** What a transaction will say, with nothing of it so yet. */
export interface PendingTransaction {
  readonly transaction: Transaction;
  /**
   * Applies it, all or nothing.
   * @throws CoreError ERR_KEY_TAKEN, ERR_ADDRESS_TAKEN where another object holds what is claimed
   */
  commit(): Commit;
}

/** What a transaction came to without what was refused. */
export interface FittingCommit extends Commit {
  readonly refused: readonly Conflict[];
}

/** An object as it was before a change; undefined where it was absent. */
export interface ObjectBefore {
  readonly kind: Kind;
  readonly key: string;
  readonly object: ModelObject | undefined;
}

/** The places of a watcher in the store's histories, moved together. */
export interface NodeCursor {
  readonly services: Cursor<ServiceState | undefined>;
  /** Listeners, groups, nodes, security groups, certificates. */
  readonly others: Cursor<ObjectBefore>;
}

/** Enough for a watcher that is a second late in a busy cluster, at about half a kilobyte each. */
const DEFAULT_HISTORY_LIMIT = 1000;

/** The cluster-wide truth: objects by owners, in transactions, each with a revision. */
export class GlobalStore {
  readonly #tables = new Tables();
  readonly #indexes: Indexes;
  readonly #ownership: Ownership;
  readonly #histories: {
    readonly services: History<ServiceState | undefined>;
    readonly others: History<ObjectBefore>;
    readonly objects: History<ObjectBefore>;
  };
  readonly #unsynced = new Map<string, Set<Kind>>();
  readonly #waiters = new Set<() => void>();
  readonly #listeners = new Set<(commit: Commit) => void>();
  #revision = 0;

  constructor(options: GlobalStoreOptions = {}) {
    const limit = options.historyLimit ?? DEFAULT_HISTORY_LIMIT;
    this.#ownership = new Ownership(options.ownerOrder ?? [], this.#tables);
    this.#indexes = new Indexes(this.#tables);
    this.#histories = {
      services: new History(limit),
      others: new History(limit),
      objects: new History(limit),
    };
  }

  /** Whether a clash is decided by the order of owners, and the object that loses waits. */
  get isOrdered(): boolean {
    return this.#ownership.isOrdered;
  }

  get revision(): number {
    return this.#revision;
  }

  /** The state at this moment, without copying it: read it before the next transaction. */
  state(): GlobalState {
    const { services, groups, listeners, nodes, securityGroups, certificates } = this.#indexes;
    const { revision } = this;
    return { revision, services, groups, listeners, nodes, securityGroups, certificates };
  }

  /** All objects of a kind, in no order. */
  objects(kind: Kind): Iterable<ModelObject> {
    return this.#tables.objects(kind);
  }

  get<K extends Kind>(kind: K, key: string): ObjectOf<K> | undefined {
    const object = this.#tables.get(kind, key);
    return isOfKind(object, kind) ? object : undefined;
  }

  ownerOf(kind: Kind, key: string): string | undefined {
    return this.#tables.ownerOf(kind, key);
  }

  /** Announces a source: watchers are sent nothing before it is synced. */
  register(owner: string): void {
    if (!this.#unsynced.has(owner)) this.#unsynced.set(owner, new Set(KINDS));
  }

  /** The source has said all that it has of these kinds, be it nothing. Never taken back. */
  markSynced(owner: string, kinds: readonly Kind[] = KINDS): void {
    this.register(owner);
    for (const kind of kinds) this.#unsynced.get(owner)?.delete(kind);
    this.#wake();
  }

  isSynced(): boolean {
    return [...this.#unsynced.values()].every((kinds) => kinds.size === 0);
  }

  /** For each registered source, the kinds that it has not said yet. */
  unsynced(): ReadonlyMap<string, ReadonlySet<Kind>> {
    return this.#unsynced;
  }

  conflicts(): readonly Conflict[] {
    return this.#ownership.conflicts();
  }

  /** Calls `listener` after each transaction that changed something, until the result is called. */
  onCommit(listener: (commit: Commit) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Applies what `write` says, all or nothing.
   * @throws CoreError ERR_KEY_TAKEN, ERR_ADDRESS_TAKEN where another object holds what is claimed;
   * ERR_USAGE where `write` is async
   */
  transact(owner: string, write: (transaction: Transaction) => void): Commit {
    const pending = this.begin(owner);
    const said: unknown = write(pending.transaction);
    if (said instanceof Promise) {
      throw new CoreError("ERR_USAGE", "transact takes a function that is not async; see begin");
    }
    return pending.commit();
  }

  /** A transaction that is said bit by bit while others go on. */
  begin(owner: string): PendingTransaction {
    const staged = new StagedTransaction(() => this.#keysOf(owner));
    return {
      transaction: staged,
      commit: () => {
        const resolution = this.#ownership.resolve(owner, staged.wishes);
        resolution.commit();
        return this.#apply(owner, resolution.changes);
      },
    };
  }

  /**
   * Applies what fits of what `write` says. What another object holds the key or an address of is left out:
   * where it is there already, it stays as it is. For sources whose objects are written one by one.
   */
  transactFitting(owner: string, write: (transaction: Transaction) => void): FittingCommit {
    const staged = new StagedTransaction(() => this.#keysOf(owner));
    write(staged);
    const { resolution, refused } = this.#ownership.resolveFitting(owner, staged.wishes);
    resolution.commit();
    return { ...this.#apply(owner, resolution.changes), refused };
  }

  /** A promise for the next commit or synced source. */
  changed(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiters.delete(wake);
        reject(new CoreError("ERR_ABORTED", "the watch was ended", { cause: signal?.reason }));
      };
      const wake = () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      if (signal?.aborted) return abort();
      signal?.addEventListener("abort", abort, { once: true });
      this.#waiters.add(wake);
    });
  }

  /** For `NodeWatcher`: places at the present in what a node's view depends on. */
  nodeCursor(): NodeCursor {
    return {
      services: this.#histories.services.cursor(),
      others: this.#histories.others.cursor(),
    };
  }

  /** For `ObjectWatcher`: a place at the present in the changes of all objects. */
  objectCursor(): Cursor<ObjectBefore> {
    return this.#histories.objects.cursor();
  }

  #apply(owner: string, changes: readonly ObjectChange[]): Commit {
    if (changes.length === 0) return { owner, revision: this.#revision, changes };
    this.#tables.apply(changes);
    this.#revision += 1;
    const { services, others, objects } = this.#histories;
    services.record(this.#indexes.apply(changes));
    others.record(beforesOf(changes, isOther, others.isWatched));
    objects.record(beforesOf(changes, () => true, objects.isWatched));
    const commit = { owner, revision: this.#revision, changes };
    this.#wake();
    for (const listener of this.#listeners) tell(listener, commit);
    return commit;
  }

  #wake(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const wake of waiters) wake();
  }

  *#keysOf(owner: string): Generator<readonly [Kind, string]> {
    yield* this.#tables.keysOf(owner);
    for (const object of this.#ownership.waiting(owner)) yield [object.kind, keyOf(object)];
  }
}

/** What is committed is so: an error of who is told is no refusal, and keeps nobody else from being told. */
function tell(listener: (commit: Commit) => void, commit: Commit): void {
  try {
    listener(commit);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function beforesOf(
  changes: readonly ObjectChange[],
  concerns: (kind: Kind) => boolean,
  isWatched: boolean,
): Map<string, ObjectBefore> {
  const befores = new Map<string, ObjectBefore>();
  if (!isWatched) return befores;
  for (const { kind, key, before } of changes) {
    if (concerns(kind)) befores.set(describe(kind, key), { kind, key, object: before });
  }
  return befores;
}

/** What a node's view reads beside services with their groups and endpoints. */
function isOther(kind: Kind): boolean {
  return kind !== "Service" && kind !== "Endpoint";
}

function isOfKind<K extends Kind>(object: ModelObject | undefined, kind: K): object is ObjectOf<K> {
  return object?.kind === kind;
}
