import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import type { Family } from "../../core/model/address.ts";
import type { SyncReport } from "./family-proxier.ts";

/** Counts what the backend does. */
export class SyncMetrics {
  readonly #syncs = new Map<string, number>();
  #lines = 0;
  #repaired = 0;
  #removedFlows = 0;

  synced(family: Family, { kind, lines }: SyncReport): void {
    this.#lines += lines;
    const key = `${family} ${kind}`;
    this.#syncs.set(key, (this.#syncs.get(key) ?? 0) + 1);
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
    ];
  }
}

function counter(name: string, help: string, value: number): MetricFamily {
  return { name, help, kind: "counter", samples: [{ labels: {}, value }] };
}
