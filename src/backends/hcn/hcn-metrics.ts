import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import type { MeteredCalls } from "../../platform/windows/metered-calls.ts";
import type { HcnSync } from "./hcn-sync.ts";

export function hcnMetrics(sync: HcnSync, calls: MeteredCalls): readonly MetricFamily[] {
  const counts = [...calls.counts()];
  const { endpointStore, loadBalancerStore } = sync.stores;
  const one = (value: number) => [{ labels: {}, value }];
  return [
    {
      name: "hcn_calls_total",
      help: "Calls of the Host Compute Network service.",
      kind: "counter",
      samples: counts.map(([call, { total }]) => ({ labels: { call }, value: total })),
    },
    {
      name: "hcn_call_failures_total",
      help: "Those that were refused.",
      kind: "counter",
      samples: counts.map(([call, { failures }]) => ({ labels: { call }, value: failures })),
    },
    {
      name: "hcn_repairs_total",
      help: "How often others had removed what is ours.",
      kind: "counter",
      samples: one(sync.repairs),
    },
    {
      name: "hcn_remote_endpoints",
      help: "Remote endpoints that are in HNS.",
      kind: "gauge",
      samples: one(endpointStore.size),
    },
    {
      name: "hcn_load_balancers",
      help: "Load balancers that are in HNS.",
      kind: "gauge",
      samples: one(loadBalancerStore.size),
    },
  ];
}
