import { onTestFinished } from "vitest";
import type { CoreError } from "../../src/core/errors.ts";
import type { Endpoint } from "../../src/core/model/endpoint.ts";
import { keyOf } from "../../src/core/model/object.ts";
import type { Service } from "../../src/core/model/service.ts";
import { GlobalStore } from "../../src/core/store/global-store.ts";
import type { EtcdClientOptions } from "../../src/engines/etcd/etcd-options.ts";
import { createEtcdSource } from "../../src/sources/etcd/etcd-source.ts";
import { encodeStored, storedKey } from "../../src/sources/etcd/stored-object.ts";
import type { Source } from "../../src/sources/source.ts";
import type { WriteOp } from "../../src/wire/etcd/kv-messages.ts";
import { type EtcdCluster, QUICK } from "../support/etcd.ts";
import { sampleService } from "../support/samples.ts";

export const PREFIX = "/portolan/";

/** What the store has of the source, by `Kind key`. */
export function contents(store: GlobalStore): ReadonlyMap<string, unknown> {
  const all = (["Service", "Endpoint"] as const).flatMap((kind) => [...store.objects(kind)]);
  return new Map(all.map((object) => [`${object.kind} ${object.name}`, object]));
}

export interface Followed {
  readonly source: Source;
  readonly store: GlobalStore;
  readonly failures: CoreError[];
  readonly oks: string[];
  /** The last word about what could not be taken. */
  readonly refused: () => readonly string[];
  /** Waits until the store is as wanted. */
  until(isSo: () => boolean): Promise<void>;
}

/** A source that follows the cluster, with a store of its own; it ends with the test. */
export async function follow(
  etcd: EtcdCluster,
  given: Partial<EtcdClientOptions> & { readonly maxObjects?: number } = {},
  store: GlobalStore = new GlobalStore(),
): Promise<Followed> {
  const { options } = etcd;
  const source = createEtcdSource({
    ...options,
    maxObjects: 1000,
    maxObjectBytes: 10_000,
    ...given,
    limits: { ...QUICK, ...given.limits },
    owner: "etcd",
    prefix: PREFIX,
  });
  const failures: CoreError[] = [];
  const oks: string[] = [];
  let refused: readonly string[] = [];
  const waiters = new Set<() => void>();
  const wake = (): void => {
    for (const waiter of waiters) waiter();
  };
  await source.start(store, {
    ok: (message) => {
      oks.push(message);
      wake();
    },
    failed: (error) => {
      failures.push(error);
      wake();
    },
    refused: (lines) => {
      refused = lines;
      wake();
    },
  });
  onTestFinished(() => source.close());
  store.onCommit(wake);
  const until = (isSo: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!isSo()) return;
        waiters.delete(look);
        resolve();
      };
      waiters.add(look);
      look();
      void store.changed().then(look);
    });
  return { source, store, failures, oks, refused: () => refused, until };
}

/** Writes an object as `apply` does. */
export function put(object: Service | Endpoint, lease = 0n): WriteOp {
  return {
    op: "put",
    key: Buffer.from(storedKey(PREFIX, object.kind, keyOf(object))),
    value: encodeStored({ owner: "control", object }),
    lease,
  };
}

export function service(name: string, ...clusterIPs: readonly string[]): Service {
  return sampleService({ name, clusterIPs });
}
