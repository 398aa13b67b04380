import type { CoreError } from "../../core/errors.ts";
import { describe, keyOf, type ModelObject } from "../../core/model/object.ts";
import type { FittingCommit, GlobalStore } from "../../core/store/global-store.ts";
import type { Transaction } from "../../core/store/transaction.ts";
import { EtcdClient } from "../../engines/etcd/etcd-client.ts";
import type { EtcdClientOptions } from "../../engines/etcd/etcd-options.ts";
import { followRange, type RangeFollower } from "../../engines/etcd/follow-range.ts";
import { prefixRange } from "../../engines/etcd/prefix-range.ts";
import type { KeyValue } from "../../wire/etcd/kv-messages.ts";
import type { WatchEvent } from "../../wire/etcd/watch-messages.ts";
import type { Source, SourceReporter } from "../source.ts";
import { EtcdSourceMetrics } from "./etcd-source-metrics.ts";
import { ObjectRows, type RowLimits } from "./object-rows.ts";
import { normalizePrefix, objectsPrefix } from "./stored-object.ts";

export interface EtcdSourceOptions extends EtcdClientOptions {
  readonly owner: string;
  /** What the keys begin with; `/portolan/` by default. */
  readonly prefix: string;
  readonly maxObjects: number;
  readonly maxObjectBytes: number;
}

/** So many lines say what could not be taken; the rest is counted. */
const MAX_TOLD = 20;

/**
 * A source that follows the objects below a prefix of an etcd. Many write there, so a bad object stops no other
 * one: it is told, and what it was before stays, as it does where another source holds what it claims.
 */
export function createEtcdSource(options: EtcdSourceOptions): Source {
  const { owner } = options;
  let client: EtcdClient | undefined;
  let follower: StoreFollower | undefined;
  let running: Promise<void> = Promise.resolve();
  let isClosed = false;
  const metrics = new EtcdSourceMetrics();
  return {
    owner,
    details: () => metrics.details(),
    metrics: () => metrics.families(),
    start: async (store, report) => {
      if (isClosed) return;
      store.register(owner);
      client = new EtcdClient({
        ...options,
        onCall: (call, seconds, isOk) => metrics.requests.took(call, seconds, isOk),
      });
      const prefix = normalizePrefix(options.prefix);
      follower = new StoreFollower({ store, report, owner, prefix, limits: options, metrics });
      running = followRange(client, prefixRange(objectsPrefix(prefix)), follower);
    },
    close: async () => {
      isClosed = true;
      follower?.close();
      client?.close();
      await running;
    },
  };
}

interface FollowerParts {
  readonly store: GlobalStore;
  readonly report: SourceReporter;
  readonly owner: string;
  readonly prefix: string;
  readonly limits: RowLimits;
  readonly metrics: EtcdSourceMetrics;
}

/** Brings what etcd tells into the store, each answer as one transaction. */
class StoreFollower implements RangeFollower {
  readonly #parts: FollowerParts;
  readonly #rows: ObjectRows;
  /** What another source holds the name or an address of; it may give it up. */
  #refused = new Map<string, { readonly object: ModelObject; readonly why: string }>();
  #retry: NodeJS.Immediate | undefined;
  #told = "";
  readonly #stop: () => void;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#rows = new ObjectRows(parts.prefix, parts.limits);
    this.#stop = parts.store.onCommit(({ owner }) => {
      // Not within the commit of another.
      if (owner !== parts.owner && this.#refused.size > 0) {
        this.#retry ??= setImmediate(() => this.#tryAgain());
      }
    });
  }

  close(): void {
    this.#stop();
    clearImmediate(this.#retry);
  }

  begin(): void {
    this.#rows.begin();
  }

  page(kvs: readonly KeyValue[]): void {
    this.#rows.add(kvs);
  }

  whole(revision: number): void {
    this.#parts.metrics.counts.listed();
    this.#parts.metrics.revision = revision;
    const objects = this.#rows.replace();
    this.#refused.clear();
    this.#transact(objects, (transaction) => transaction.replaceAll(objects));
    this.#parts.store.markSynced(this.#parts.owner);
  }

  changed(events: readonly WatchEvent[], revision: number): void {
    this.#parts.metrics.counts.changed(events.length);
    this.#parts.metrics.revision = revision;
    const { sets, deletes } = this.#rows.apply(events);
    for (const object of [...sets, ...deletes]) this.#refused.delete(nameOf(object));
    const waiting = [...this.#refused.values()].map(({ object }) => object);
    this.#transact([...waiting, ...sets], (transaction) => {
      for (const object of deletes) transaction.delete(object.kind, keyOf(object));
      for (const object of [...waiting, ...sets]) transaction.set(object);
    });
  }

  compacted(): void {
    this.#parts.metrics.compactions += 1;
    this.#parts.metrics.counts.lost();
  }

  following(member: string): void {
    this.#parts.metrics.counts.following();
    this.#parts.report.ok(`follows ${this.#parts.prefix} at ${member}`);
  }

  failed(error: CoreError): void {
    this.#parts.metrics.counts.lost();
    this.#parts.report.failed(error);
  }

  #tryAgain(): void {
    this.#retry = undefined;
    const waiting = [...this.#refused.values()].map(({ object }) => object);
    this.#transact(waiting, (transaction) => {
      for (const object of waiting) transaction.set(object);
    });
  }

  #transact(asked: readonly ModelObject[], write: (transaction: Transaction) => void): void {
    const { store, owner } = this.#parts;
    const commit = store.transactFitting(owner, write);
    this.#noteRefused(asked, commit);
    this.#tell();
  }

  #noteRefused(asked: readonly ModelObject[], { refused }: FittingCommit): void {
    const why = new Map(
      refused.map(({ kind, key, what, heldBy }) => {
        const name = describe(kind, key);
        return [name, `${name}: ${what} is held by ${heldBy}`];
      }),
    );
    for (const object of asked) {
      const name = nameOf(object);
      const reason = why.get(name);
      if (reason === undefined) this.#refused.delete(name);
      else this.#refused.set(name, { object, why: reason });
    }
  }

  /** What could not be taken, where that is news. */
  #tell(): void {
    const clashes = [...this.#refused.values()].map(({ why }) => why);
    const lines = [...this.#rows.problems(), ...clashes];
    const shown = lines.slice(0, MAX_TOLD);
    if (lines.length > MAX_TOLD) shown.push(`and ${lines.length - MAX_TOLD} more`);
    const text = shown.join("\n");
    if (text === this.#told) return;
    this.#told = text;
    this.#parts.report.refused?.(shown);
  }
}

function nameOf(object: ModelObject): string {
  return describe(object.kind, keyOf(object));
}
