import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { MetricFamily } from "../core/metrics/metric-family.ts";
import type { Kind } from "../core/model/object.ts";
import type { Sink } from "../core/sinks/sink.ts";
import type { StatusBoard } from "../core/status/status-board.ts";
import type { Commit, GlobalStore } from "../core/store/global-store.ts";
import type { KubeProxyMetrics } from "./kube-proxy-metrics.ts";
import { meterSink } from "./meter-sink.ts";
import { type PartMetrics, renderPartMetrics } from "./part-metrics.ts";

export interface MetricsOptions {
  readonly version: string;
  readonly board: StatusBoard;
  /** Who follows the state at this moment. */
  readonly watchers: () => number;
  /** Monotonic, in seconds. */
  readonly nowSeconds: () => number;
  /** Whether to watch the process, too: that costs a little, so only where someone reads it. */
  readonly withProcess: boolean;
  /** Whether what it counts is also told by the names of kube-proxy. */
  readonly kubeProxy?: KubeProxyMetrics | undefined;
}

export interface Metrics {
  /** Missing where they are not asked for. */
  readonly kubeProxy: KubeProxyMetrics | undefined;
  readonly contentType: string;
  /** All of them as Prometheus reads them. */
  text(): Promise<string>;
  /** Follows a store; its objects are counted from its commits. */
  watchStore(store: GlobalStore): void;
  /** The same sink, counted. */
  meter(backend: string, sink: Sink): Sink;
  /**
   * Adds what a backend's data plane, a source or a server counts; read anew each time.
   * @param measure is done before
   */
  watchPart(
    kind: PartMetrics["label"]["name"],
    name: string,
    read: () => readonly MetricFamily[],
    measure?: () => Promise<void>,
  ): void;
}

/** From 1 ms to 16 s, as kube-proxy has them. */
const SYNC_BUCKETS_SECONDS: readonly number[] = Array.from(
  { length: 15 },
  (_, index) => 0.001 * 2 ** index,
);

const PREFIX = "portolan_";

/** The metrics of one instance, in a registry of its own. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (options.withProcess) collectDefaultMetrics({ register: registry, prefix: PREFIX });
  new Gauge({
    name: `${PREFIX}build_info`,
    help: "Always 1; the version is a label",
    labelNames: ["version"],
    registers,
  }).set({ version: options.version }, 1);
  new Gauge({
    name: `${PREFIX}component_ok`,
    help: "1 while a source, sync, backend or server is well",
    labelNames: ["kind", "name"],
    registers,
    collect() {
      for (const { kind, name, health } of options.board.components()) {
        this.set({ kind, name }, health === "ok" ? 1 : 0);
      }
    },
  });
  new Gauge({
    name: `${PREFIX}watchers`,
    help: "Streams that follow the state, of this node and of others",
    registers,
    collect() {
      this.set(options.watchers());
    },
  });
  const ops = new Counter({
    name: `${PREFIX}ops_total`,
    help: "Operations sent to a backend",
    labelNames: ["backend", "set", "op"],
    registers,
  });
  const durations = new Histogram({
    name: `${PREFIX}sync_duration_seconds`,
    help: "Time that a backend took to apply a change",
    labelNames: ["backend"],
    buckets: [...SYNC_BUCKETS_SECONDS],
    registers,
  });
  const failures = new Counter({
    name: `${PREFIX}sync_failures_total`,
    help: "Syncs that a backend rejected",
    labelNames: ["backend"],
    registers,
  });
  const parts: PartMetrics[] = [];
  const measures: (() => Promise<void>)[] = [];
  const { kubeProxy } = options;
  return {
    kubeProxy,
    contentType: registry.contentType,
    text: async () => {
      await Promise.all(measures.map((measure) => measure()));
      const own = await registry.metrics();
      return own + renderPartMetrics(parts, PREFIX) + ((await kubeProxy?.text()) ?? "");
    },
    watchPart: (kind, name, read, measure) => {
      parts.push({ label: { name: kind, value: name }, read });
      if (measure !== undefined) measures.push(measure);
    },
    watchStore: (store) => watchStore(registry, store),
    meter: (backend, sink) => {
      failures.inc({ backend }, 0);
      return meterSink(sink, {
        nowSeconds: options.nowSeconds,
        countOps: (set, op, count) => {
          ops.inc({ backend, set, op }, count);
          kubeProxy?.changed(backend, set, count);
        },
        countFailure: () => {
          failures.inc({ backend });
          kubeProxy?.failed(backend);
        },
        observeSync: (seconds) => {
          durations.observe({ backend }, seconds);
          kubeProxy?.synced(backend, seconds);
        },
      });
    },
  };
}

function watchStore(registry: Registry, store: GlobalStore): void {
  const registers = [registry];
  new Gauge({
    name: `${PREFIX}store_revision`,
    help: "Revision of the state",
    registers,
    collect() {
      this.set(store.revision);
    },
  });
  const objects = new Gauge({
    name: `${PREFIX}store_objects`,
    help: "Objects in the state",
    labelNames: ["kind"],
    registers,
  });
  const transactions = new Counter({
    name: `${PREFIX}store_transactions_total`,
    help: "Transactions that changed something",
    labelNames: ["owner"],
    registers,
  });
  store.onCommit((commit: Commit) => {
    transactions.inc({ owner: commit.owner });
    const more = new Map<Kind, number>();
    for (const { action, kind } of commit.changes) {
      const by = { create: 1, update: 0, delete: -1 }[action];
      more.set(kind, (more.get(kind) ?? 0) + by);
    }
    for (const [kind, count] of more) objects.inc({ kind }, count);
  });
}
