import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import { FAMILIES, type Family, familyOf } from "../../core/model/address.ts";
import type { Ledger, Pulse } from "./ledger.ts";

/** What one manager has done since it started. */
export interface ManagerCounts {
  readonly joins: number;
  readonly renewals: number;
  readonly refusedTokens: number;
}

/** The numbers of a manager: what it did itself, and what the ledger keeps, by whichever manager. */
export function managerMetrics(
  { joins, renewals, refusedTokens }: ManagerCounts,
  { ledger, pulse }: { readonly ledger: Ledger; readonly pulse: Pick<Pulse, "isAlive"> },
): readonly MetricFamily[] {
  const nodes = { alive: 0, dead: 0 };
  const networks = { v4: 0, v6: 0 };
  const addresses = { v4: 0, v6: 0 };
  for (const object of ledger.objects()) {
    if (object.kind === "Node") {
      nodes[pulse.isAlive(object.name) ? "alive" : "dead"] += 1;
      for (const subnet of object.subnets) networks[familyOf(subnet)] += 1;
    } else if (object.kind === "Service") {
      for (const { address } of object.edgeIPs) addresses[familyOf(address)] += 1;
    }
  }
  return [
    {
      name: "manager_nodes",
      help: "Nodes that have joined, by whether they renew",
      kind: "gauge",
      samples: Object.entries(nodes).map(([health, value]) => ({ labels: { health }, value })),
    },
    byFamily("manager_networks", "Networks that nodes have for their workloads", networks),
    byFamily("manager_addresses", "Addresses that services have", addresses),
    counter("manager_joins_total", "Nodes that joined by this manager", joins),
    counter("manager_renewals_total", "Renewals of nodes by this manager", renewals),
    counter(
      "manager_refused_tokens_total",
      "Nodes that this manager refused for their token",
      refusedTokens,
    ),
  ];
}

function byFamily(
  name: string,
  help: string,
  counts: Readonly<Record<Family, number>>,
): MetricFamily {
  const samples = FAMILIES.map((family) => ({ labels: { family }, value: counts[family] }));
  return { name, help, kind: "gauge", samples };
}

function counter(name: string, help: string, value: number): MetricFamily {
  return { name, help, kind: "counter", samples: [{ labels: {}, value }] };
}
