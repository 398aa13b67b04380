import type { CoreError } from "../../core/errors.ts";
import { deepEqual } from "../../core/model/equal.ts";
import { KINDS, keyOf } from "../../core/model/object.ts";
import type { WatchItem, WatchParams } from "../../daemon/instance-socket/state-protocol.ts";
import { Mailbox } from "../../daemon/requests/mailbox.ts";
import type { EtcdClient } from "../../engines/etcd/etcd-client.ts";
import { followRange, type RangeFollower } from "../../engines/etcd/follow-range.ts";
import { prefixRange } from "../../engines/etcd/prefix-range.ts";
import type { RowLimits } from "../../sources/etcd/object-rows.ts";
import { objectsPrefix, readStored, type StoredObject } from "../../sources/etcd/stored-object.ts";
import type { KeyValue } from "../../wire/etcd/kv-messages.ts";
import type { WatchEvent } from "../../wire/etcd/watch-messages.ts";

export interface WatchStoredOptions {
  readonly client: EtcdClient;
  readonly prefix: string;
  readonly access: RowLimits;
  readonly note: (line: string) => void;
}

/** More than so many that nobody has read: it is ended, to be begun again. */
const MAX_WAITING = 1_000_000;

/** The objects below a prefix, then their changes, whatever happens to connections. */
export async function* watchStored(
  options: WatchStoredOptions,
  { kinds = KINDS }: WatchParams,
  signal: AbortSignal,
): AsyncGenerator<WatchItem> {
  const { client, prefix } = options;
  const ended = new AbortController();
  const items = new Mailbox<WatchItem>({
    limit: MAX_WAITING,
    signal: AbortSignal.any([signal, ended.signal]),
  });
  let failure: CoreError | undefined;
  const follower = new WatchFollower(options, {
    put: (item) => {
      const kind = "object" in item ? item.object.kind : "kind" in item ? item.kind : undefined;
      if (kind === undefined || kinds.includes(kind)) items.put(item);
    },
    fail: (error) => {
      failure = error;
      ended.abort();
    },
  });
  const following = followRange(client, prefixRange(objectsPrefix(prefix)), follower);
  try {
    yield* items;
  } finally {
    client.close();
    await following;
  }
  if (failure !== undefined) throw failure;
}

interface WatchOutput {
  put(item: WatchItem): void;
  fail(error: CoreError): void;
}

class WatchFollower implements RangeFollower {
  readonly #options: WatchStoredOptions;
  readonly #output: WatchOutput;
  #rows = new Map<string, StoredObject>();
  #coming: KeyValue[] = [];
  #isSynced = false;

  constructor(options: WatchStoredOptions, output: WatchOutput) {
    this.#options = options;
    this.#output = output;
  }

  begin(): void {
    this.#coming = [];
  }

  page(kvs: readonly KeyValue[]): void {
    this.#coming.push(...kvs);
  }

  whole(revision: number): void {
    const there = new Set(this.#coming.map(({ key }) => key));
    const gone = [...this.#rows.keys()].filter((key) => !there.has(key));
    for (const kv of this.#coming) this.#put(kv, revision);
    if (!this.#isSynced) this.#tellPresent(revision);
    for (const key of gone) this.#remove(key, revision);
    this.#coming = [];
    if (!this.#isSynced) this.#output.put({ event: "synced", revision });
    this.#isSynced = true;
  }

  changed(events: readonly WatchEvent[]): void {
    for (const { type, kv } of events) {
      if (type === "put") this.#put(kv, kv.modRevision);
      else this.#remove(kv.key, kv.modRevision);
    }
  }

  following(): void {}

  /** At the start it is told by failing; later it goes on by itself. */
  failed(error: CoreError): void {
    if (this.#isSynced) this.#options.note(`${error.message}; it is tried again`);
    else this.#output.fail(error);
  }

  #put(kv: KeyValue, revision: number): void {
    const { prefix, access, note } = this.#options;
    const value = readStored(prefix, kv, access.maxObjectBytes);
    if (!value.ok) {
      note(`left out: ${value.problem}`);
      return;
    }
    const { owner, object } = value;
    const before = this.#rows.get(kv.key);
    this.#rows.set(kv.key, { owner, object });
    if (this.#isSynced && (before?.owner !== owner || !deepEqual(before.object, object))) {
      const change = { kind: object.kind, key: keyOf(object), owner, revision, after: object };
      const news = before === undefined ? undefined : { before: before.object };
      const action = before === undefined ? "create" : "update";
      this.#output.put({ event: "changed", action, ...change, ...news });
    }
  }

  /** In the order in which an instance tells them. */
  #tellPresent(revision: number): void {
    const rank = ({ object }: StoredObject): number => KINDS.indexOf(object.kind);
    const sorted = [...this.#rows.values()].sort(
      (a, b) => rank(a) - rank(b) || (keyOf(a.object) < keyOf(b.object) ? -1 : 1),
    );
    for (const { owner, object } of sorted) {
      this.#output.put({ event: "present", revision, owner, object });
    }
  }

  #remove(key: string, revision: number): void {
    const row = this.#rows.get(key);
    if (row === undefined) return;
    this.#rows.delete(key);
    const { owner, object } = row;
    const name = { kind: object.kind, key: keyOf(object) };
    this.#output.put({
      event: "changed",
      action: "delete",
      ...name,
      owner,
      revision,
      before: object,
    });
  }
}
