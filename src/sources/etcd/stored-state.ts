import { CoreError } from "../../core/errors.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import type { EtcdClient } from "../../engines/etcd/etcd-client.ts";
import { isCompacted } from "../../engines/etcd/etcd-errors.ts";
import { listRange } from "../../engines/etcd/list-range.ts";
import { prefixRange } from "../../engines/etcd/prefix-range.ts";
import type { KeyValue } from "../../wire/etcd/kv-messages.ts";
import type { RowLimits } from "./object-rows.ts";
import { objectsPrefix, readStored, versionPrefix, writesKey } from "./stored-object.ts";

/** What writers need to know of a key. */
export interface StoredRow {
  readonly modRevision: number;
  readonly lease: bigint;
}

/** All that is below a prefix at one moment. */
export interface StoredState {
  readonly revision: number;
  /** The objects with the owners that they have in etcd. */
  readonly store: GlobalStore;
  /** By key, also of what is not understood. */
  readonly rows: ReadonlyMap<string, StoredRow>;
  /** When the last change was made that others must not meet. */
  readonly writesRevision: number;
  /** The keys of what is not understood. */
  readonly notUnderstood: ReadonlySet<string>;
  /** What is not understood, or clashes with what is: a line each. */
  readonly problems: readonly string[];
}

/** Where reading takes so long that etcd forgets the moment. */
const ATTEMPTS = 5;

/** @throws CoreError as the calls of the client do; ERR_STATE_TOO_LARGE */
export async function loadStored(
  client: EtcdClient,
  prefix: string,
  limits: RowLimits,
): Promise<StoredState> {
  for (let attempt = 1; ; attempt += 1) {
    const loading = new Loading(prefix, limits);
    try {
      const range = prefixRange(versionPrefix(prefix));
      const { revision } = await listRange(client, range, (kvs) => loading.add(kvs));
      return loading.finish(revision);
    } catch (error) {
      if (attempt >= ATTEMPTS || !isCompacted(error)) throw error;
    }
  }
}

class Loading {
  readonly #prefix: string;
  readonly #limits: RowLimits;
  readonly #rows = new Map<string, StoredRow>();
  readonly #byOwner = new Map<string, ModelObject[]>();
  readonly #notUnderstood = new Set<string>();
  readonly #problems: string[] = [];
  #writesRevision = 0;

  constructor(prefix: string, limits: RowLimits) {
    this.#prefix = prefix;
    this.#limits = limits;
  }

  add(kvs: readonly KeyValue[]): void {
    const objects = objectsPrefix(this.#prefix);
    for (const kv of kvs) {
      if (kv.key.startsWith(objects)) this.#addObject(kv);
      else if (kv.key === writesKey(this.#prefix)) this.#writesRevision = kv.modRevision;
    }
  }

  finish(revision: number): StoredState {
    const store = new GlobalStore();
    for (const [owner, objects] of this.#byOwner) {
      const { refused } = store.transactFitting(owner, (tx) => tx.replaceAll(objects));
      for (const { kind, key, what, heldBy } of refused) {
        this.#problems.push(`${kind} ${key}: ${what} is held by ${heldBy}`);
      }
    }
    return {
      revision,
      store,
      rows: this.#rows,
      writesRevision: this.#writesRevision,
      notUnderstood: this.#notUnderstood,
      problems: this.#problems,
    };
  }

  #addObject(kv: KeyValue): void {
    const { maxObjects, maxObjectBytes } = this.#limits;
    if (this.#rows.size >= maxObjects) {
      throw new CoreError(
        "ERR_STATE_TOO_LARGE",
        `etcd has more than ${maxObjects} objects below ${this.#prefix}; expected less, or a higher --etcd-max-objects`,
      );
    }
    this.#rows.set(kv.key, { modRevision: kv.modRevision, lease: kv.lease });
    const stored = readStored(this.#prefix, kv, maxObjectBytes);
    if (!stored.ok) {
      this.#notUnderstood.add(kv.key);
      this.#problems.push(stored.problem);
      return;
    }
    const objects = this.#byOwner.get(stored.owner);
    if (objects === undefined) this.#byOwner.set(stored.owner, [stored.object]);
    else objects.push(stored.object);
  }
}
