import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import type { SyncCounts } from "./kernel-sync.ts";
import type { Planner } from "./plan/planner.ts";

export function nftablesMetrics(
  planner: Planner,
  { transactions, full, repairs }: SyncCounts,
): readonly MetricFamily[] {
  const perTable = (name: string, help: string, value: (table: Table) => number): MetricFamily => ({
    name,
    help,
    kind: "gauge",
    samples: planner.tables.map((table) => ({
      labels: { family: table.table.family },
      value: value(table),
    })),
  });
  const counter = (name: string, help: string, value: number): MetricFamily => ({
    name,
    help,
    kind: "counter",
    samples: [{ labels: {}, value }],
  });
  return [
    counter("nftables_transactions_total", "Transactions that changed the kernel.", transactions),
    counter("nftables_full_transactions_total", "Those that wrote everything anew.", full),
    counter("nftables_repairs_total", "How often others had changed what is ours.", repairs),
    perTable(
      "nftables_addresses",
      "Addresses and ports on which something is served.",
      (table) => table.counts().frontends,
    ),
    perTable("nftables_slots", "Slots of endpoints.", (table) => table.counts().slots),
    perTable("nftables_chains", "Chains.", (table) => table.counts().chains),
  ];
}

type Table = Planner["tables"][number];
