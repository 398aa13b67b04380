import type { Family } from "../../core/model/address.ts";
import type { MetricFamily, MetricSample } from "../metric-family.ts";
import type { SyncReport } from "./family-proxier.ts";

/** In seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Counts what the backend does. */
export class SyncMetrics {
  readonly #syncs = new Map<string, number>();
  readonly #delays: number[] = [...BUCKETS, Number.POSITIVE_INFINITY].map(() => 0);
  #delaySeconds = 0;
  #lines = 0;
  #repaired = 0;
  #removedFlows = 0;

  synced(family: Family, { kind, lines }: SyncReport): void {
    this.#lines += lines;
    const key = `${family} ${kind}`;
    this.#syncs.set(key, (this.#syncs.get(key) ?? 0) + 1);
  }

  /** A change of a service reached the kernel so long after it was told. */
  changed(seconds: number): void {
    this.#delaySeconds += seconds;
    const at = BUCKETS.findIndex((bound) => seconds <= bound);
    const bucket = at < 0 ? BUCKETS.length : at;
    this.#delays[bucket] = (this.#delays[bucket] ?? 0) + 1;
  }

  repaired(lines: number): void {
    this.#lines += lines;
    this.#repaired += 1;
  }

  removedFlows(count: number): void {
    this.#removedFlows += count;
  }

  families(ruleCounts: ReadonlyMap<Family, number>): readonly MetricFamily[] {
    return [
      {
        name: "iptables_syncs_total",
        help: "Syncs by family and kind: full (all rules were compared), partial, none (no rule changed)",
        kind: "counter",
        samples: [...this.#syncs].map(([key, value]) => {
          const [family = "", kind = ""] = key.split(" ");
          return { labels: { family, kind }, value };
        }),
      },
      counter("iptables_lines_total", "Lines that iptables-restore was given", this.#lines),
      counter(
        "iptables_repairs_total",
        "Times that rules were not as they should be, and were put right",
        this.#repaired,
      ),
      counter(
        "iptables_removed_flows_total",
        "Tracked flows that were removed because their endpoint no longer serves",
        this.#removedFlows,
      ),
      {
        name: "iptables_rules",
        help: "Rules in the kernel",
        kind: "gauge",
        samples: [...ruleCounts].map(([family, value]) => ({ labels: { family }, value })),
      },
      {
        name: "iptables_change_to_kernel_seconds",
        help: "From the first word of a service's change to its rules in the kernel",
        kind: "histogram",
        samples: this.#delaySamples(),
      },
    ];
  }

  #delaySamples(): readonly MetricSample[] {
    const bounds = [...BUCKETS.map(String), "+Inf"];
    let count = 0;
    const buckets = bounds.map((le, index): MetricSample => {
      count += this.#delays[index] ?? 0;
      return { suffix: "_bucket", labels: { le }, value: count };
    });
    return [
      ...buckets,
      { suffix: "_sum", labels: {}, value: this.#delaySeconds },
      { suffix: "_count", labels: {}, value: count },
    ];
  }
}

function counter(name: string, help: string, value: number): MetricFamily {
  return { name, help, kind: "counter", samples: [{ labels: {}, value }] };
}
