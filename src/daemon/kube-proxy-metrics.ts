import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Answer, Routes } from "./http-server.ts";

const PREFIX = "kubeproxy_";
const MS_PER_SECOND = 1000;

/** From 1 ms to 16 s. */
const SYNC_BUCKETS: readonly number[] = Array.from(
  { length: 15 },
  (_, index) => 0.001 * 2 ** index,
);
/** As kube-proxy has them: quarters of a second to a minute, then coarser. */
const PROGRAMMING_BUCKETS: readonly number[] = [
  0.25,
  0.5,
  ...Array.from({ length: 59 }, (_, index) => index + 1),
  ...Array.from({ length: 12 }, (_, index) => 60 + index * 5),
  ...Array.from({ length: 7 }, (_, index) => 120 + index * 30),
];

/** The failures that kube-proxy counts, by backend. */
const FAILURES: ReadonlyMap<string, string> = new Map([
  ["iptables", "sync_proxy_rules_iptables_restore_failures_total"],
  ["nftables", "sync_proxy_rules_nftables_sync_failures_total"],
]);

/** What does not program services has no part in these. */
const NOT_COUNTED: ReadonlySet<string> = new Set(["healthchecks", "print"]);

const CHANGES: ReadonlyMap<string, string> = new Map([
  ["services", "sync_proxy_rules_service_changes_total"],
  ["endpoints", "sync_proxy_rules_endpoint_changes_total"],
]);

/** What Portolan counts, by the names of kube-proxy, for dashboards and alerts that know those. */
export class KubeProxyMetrics {
  readonly #registry = new Registry();
  readonly #nowMs: () => number;
  readonly #syncs: Histogram;
  readonly #programming: Histogram;
  readonly #last: Gauge;
  readonly #lastQueued: Gauge;
  readonly #counters = new Map<string, Counter>();
  readonly #health: ReadonlyMap<string, Counter>;
  /** Changes of the cluster that the data plane does not follow yet: the revision, and when it began. */
  #triggers: { readonly revision: number; readonly sinceMs: number }[] = [];

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    const registers = [this.#registry];
    this.#syncs = new Histogram({
      name: `${PREFIX}sync_proxy_rules_duration_seconds`,
      help: "SyncProxyRules latency in seconds",
      buckets: [...SYNC_BUCKETS],
      registers,
    });
    this.#programming = new Histogram({
      name: `${PREFIX}network_programming_duration_seconds`,
      help: "In cluster network programming latency in seconds",
      buckets: [...PROGRAMMING_BUCKETS],
      registers,
    });
    this.#last = this.#gauge(
      "sync_proxy_rules_last_timestamp_seconds",
      "The last time proxy rules were synced",
    );
    this.#lastQueued = this.#gauge(
      "sync_proxy_rules_last_queued_timestamp_seconds",
      "The last time a sync of proxy rules was queued",
    );
    for (const name of [...CHANGES.values(), ...FAILURES.values()]) {
      const counter = new Counter({
        name: `${PREFIX}${name}`,
        help: "As kube-proxy counts it",
        registers,
      });
      this.#counters.set(name, counter);
    }
    this.#health = new Map(
      ["healthz", "livez"].map((page) => [
        `/${page}`,
        new Counter({
          name: `${PREFIX}proxy_${page}_total`,
          help: `Answers of /${page} by HTTP status`,
          labelNames: ["code"],
          registers,
        }),
      ]),
    );
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  changed(backend: string, set: string, count: number): void {
    if (NOT_COUNTED.has(backend)) return;
    this.#lastQueued.set(this.#nowMs() / MS_PER_SECOND);
    this.#counters.get(CHANGES.get(set) ?? "")?.inc(count);
  }

  synced(backend: string, seconds: number): void {
    if (NOT_COUNTED.has(backend)) return;
    this.#syncs.observe(seconds);
    this.#last.set(this.#nowMs() / MS_PER_SECOND);
  }

  failed(backend: string): void {
    this.#counters.get(FAILURES.get(backend) ?? "")?.inc();
  }

  /** A change of the cluster, which began at that time, is in the state from that revision on. */
  triggered(sinceMs: number, revision: number): void {
    this.#triggers.push({ sinceMs, revision });
  }

  /** A data plane has followed the state up to a revision. */
  applied(backend: string, revision: number): void {
    if (NOT_COUNTED.has(backend)) return;
    const nowMs = this.#nowMs();
    this.#triggers = this.#triggers.filter((trigger) => {
      if (trigger.revision > revision) return true;
      this.#programming.observe(Math.max(0, nowMs - trigger.sinceMs) / MS_PER_SECOND);
      return false;
    });
  }

  /** The same pages, whose answers are counted where kube-proxy has them. */
  count(routes: Routes): Routes {
    const counted = [...routes].map(([path, answer]) => {
      const counter = this.#health.get(path);
      if (counter === undefined) return [path, answer] as const;
      const counting = async (): Promise<Answer> => {
        const result = await answer();
        counter.inc({ code: String(result.status) });
        return result;
      };
      return [path, counting] as const;
    });
    return new Map(counted);
  }

  #gauge(name: string, help: string): Gauge {
    return new Gauge({ name: `${PREFIX}${name}`, help, registers: [this.#registry] });
  }
}
