import { expect, test } from "vitest";
import { GlobalStore } from "../../src/core/store/global-store.ts";
import { NodeWatcher } from "../../src/core/view/node-watcher.ts";
import { sampleEndpoint, samplePort, sampleService } from "../../test/support/samples.ts";
import { kubeProxyLayout } from "./kube-proxy-layout.ts";

function scriptOf(affinitySeconds: number, chainsPer: "service" | "endpoint"): readonly string[] {
  const store = new GlobalStore();
  store.transact("test", (tx) => {
    tx.set(
      sampleService({
        namespace: "ns1",
        name: "svc1",
        clusterIPs: ["10.96.0.1"],
        ports: [samplePort({ name: "p80" })],
        affinitySeconds,
      }),
    );
    for (const ip of ["10.1.0.1", "10.1.0.2"]) {
      tx.set(
        sampleEndpoint({
          namespace: "ns1",
          group: "svc1",
          addresses: [ip],
          ports: [{ name: "p80", port: 8080 }],
        }),
      );
    }
  });
  const ops = new NodeWatcher(store, "node", []).poll() ?? [];
  return kubeProxyLayout(ops, chainsPer).split("\n");
}

test("the chain of a service has kube-proxy's name", () => {
  expect(scriptOf(0, "service")).toContain(
    "add chain ip kube-proxy service-ULMVA6XW-ns1/svc1/tcp/p80",
  );
});

test("endpoints have chains where they are asked for, or where there is affinity", () => {
  const chains = (lines: readonly string[]) =>
    lines.filter((line) => /^add chain .* endpoint-/.test(line)).length;
  expect(chains(scriptOf(0, "service"))).toBe(0);
  expect(chains(scriptOf(0, "endpoint"))).toBe(2);
  expect(chains(scriptOf(60, "service"))).toBe(2);
});
