import { expect, test } from "vitest";
import { KubeProxyMetrics } from "./kube-proxy-metrics.ts";

async function lines(metrics: KubeProxyMetrics): Promise<readonly string[]> {
  return (await metrics.text()).split("\n");
}

test("counts by the names of kube-proxy what programs services, and nothing else", async () => {
  const metrics = new KubeProxyMetrics(() => 5000);
  for (const backend of ["nftables", "healthchecks"]) {
    metrics.changed(backend, "endpoints", 3);
    metrics.changed(backend, "services", 1);
    metrics.changed(backend, "nodes", 1);
    metrics.synced(backend, 0.5);
  }
  metrics.failed("nftables");
  expect(await lines(metrics)).toEqual(
    expect.arrayContaining([
      "kubeproxy_sync_proxy_rules_duration_seconds_count 1",
      "kubeproxy_sync_proxy_rules_last_timestamp_seconds 5",
      "kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds 5",
      "kubeproxy_sync_proxy_rules_endpoint_changes_total 3",
      "kubeproxy_sync_proxy_rules_service_changes_total 1",
      "kubeproxy_sync_proxy_rules_nftables_sync_failures_total 1",
      "kubeproxy_sync_proxy_rules_iptables_restore_failures_total 0",
    ]),
  );
});

test("programming lasts from what triggered a change to when the data plane follows it", async () => {
  let nowMs = 10_000;
  const metrics = new KubeProxyMetrics(() => nowMs);
  metrics.triggered(9000, 4);
  metrics.triggered(9500, 5);
  metrics.applied("healthchecks", 5);
  metrics.applied("iptables", 4);
  nowMs = 11_500;
  metrics.applied("iptables", 6);
  metrics.applied("iptables", 7);
  expect(await lines(metrics)).toEqual(
    expect.arrayContaining([
      "kubeproxy_network_programming_duration_seconds_count 2",
      "kubeproxy_network_programming_duration_seconds_sum 3",
    ]),
  );
});

test("answers of health pages are counted by their status", async () => {
  const metrics = new KubeProxyMetrics(() => 0);
  const page = (status: number) => () => ({ status, contentType: "text/plain", body: "" });
  const routes = metrics.count(
    new Map([
      ["/healthz", page(503)],
      ["/livez", page(200)],
      ["/readyz", page(200)],
    ]),
  );
  for (const answer of routes.values()) await answer();
  await routes.get("/healthz")?.();
  expect(await lines(metrics)).toEqual(
    expect.arrayContaining([
      'kubeproxy_proxy_healthz_total{code="503"} 2',
      'kubeproxy_proxy_livez_total{code="200"} 1',
    ]),
  );
});
