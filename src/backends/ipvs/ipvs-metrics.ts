import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import type { Family } from "../../core/model/address.ts";
import type { SyncReport } from "./controller.ts";
import type { Proxier } from "./kernel/proxier.ts";

type Counts = readonly (readonly [Family, Proxier["counts"]])[];

/** Counts what the backend does. */
export class IpvsMetrics {
  readonly #syncs = new Map<Family, number>();
  #groups = 0;
  #changes = 0;
  #repairs = 0;
  #removedFlows = 0;

  synced(family: Family, { groups, changes }: SyncReport): void {
    this.#syncs.set(family, (this.#syncs.get(family) ?? 0) + 1);
    this.#groups += groups;
    this.#changes += changes;
  }

  repaired(): void {
    this.#repairs += 1;
  }

  removedFlows(count: number): void {
    this.#removedFlows += count;
  }

  families(counts: Counts): readonly MetricFamily[] {
    return [
      {
        name: "ipvs_syncs_total",
        help: "Syncs by family",
        kind: "counter",
        samples: [...this.#syncs].map(([family, value]) => ({ labels: { family }, value })),
      },
      counter("ipvs_patch_groups_total", "Patch groups that were applied", this.#groups),
      counter("ipvs_changes_total", "Changes that the kernel was told by syncs", this.#changes),
      counter(
        "ipvs_repairs_total",
        "Times that the kernel did not hold what it should, and was put right",
        this.#repairs,
      ),
      counter(
        "ipvs_removed_flows_total",
        "Tracked flows that were removed because their endpoint no longer serves",
        this.#removedFlows,
      ),
      gauge("ipvs_virtual_servers", "Virtual servers in the kernel", counts, "servers"),
      gauge("ipvs_real_servers", "Real servers in the kernel", counts, "destinations"),
      gauge(
        "ipvs_draining_servers",
        "Real servers that take no new connections and end those that they have",
        counts,
        "draining",
      ),
    ];
  }
}

function counter(name: string, help: string, value: number): MetricFamily {
  return { name, help, kind: "counter", samples: [{ labels: {}, value }] };
}

function gauge(
  name: string,
  help: string,
  counts: Counts,
  which: keyof Proxier["counts"],
): MetricFamily {
  const samples = counts.map(([family, count]) => ({ labels: { family }, value: count[which] }));
  return { name, help, kind: "gauge", samples };
}
