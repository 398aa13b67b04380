import { expect, onTestFinished, test } from "vitest";
import { startCli } from "../support/cli.ts";
import { kubeNode, kubeService, kubeSlice } from "../support/kube-objects.ts";
import { KubeServer } from "../support/kube-server.ts";

test("as kube-proxy: its flags, its pages on its ports, its metrics, and a node that is about to go", async () => {
  const server = await KubeServer.start();
  onTestFinished(() => server.close());
  server.put(kubeNode("node-a"));
  server.put(kubeService("web", 1));
  server.put(kubeSlice("web", "web-a", ["10.0.0.1"]));
  const anywhere = ["--healthz-bind-address=127.0.0.1:0", "--metrics-bind-address=127.0.0.2:0"];
  const cli = startCli([
    "kube-proxy",
    `--master=${server.url}`,
    "--hostname-override=node-a",
    "--masquerade-all=false",
    "--conntrack-min=1000",
    "--to=print",
    ...anywhere,
  ]);
  await cli.waitFor(/^sync$/m);
  expect(cli.stderr).toContain("not honoured: --conntrack-min: limits of connection tracking");
  const page = async (host: string, path: string): Promise<readonly [number, string]> => {
    const [, where = ""] = await cli.waitFor(
      new RegExp(`status pages on (${host}:\\d+)`),
      "stderr",
    );
    const response = await fetch(`http://${where}${path}`);
    return [response.status, await response.text()];
  };
  const health = async (path: string): Promise<number> => (await page("127.0.0.1", path))[0];
  expect(await page("127.0.0.2", "/proxyMode")).toEqual([200, "print"]);
  expect([await health("/healthz"), await health("/livez")]).toEqual([200, 200]);

  const taints = [{ key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" }];
  server.put(kubeNode("node-a", { spec: { taints } }));
  await expect.poll(() => health("/healthz")).toBe(503);
  expect(await health("/livez")).toBe(200);
  server.put(kubeNode("node-a"));
  await expect.poll(() => health("/healthz")).toBe(200);
  server.remove(kubeNode("node-a"));
  await expect.poll(() => health("/healthz")).toBe(503);

  const [, text] = await page("127.0.0.2", "/metrics");
  expect(text).toContain('kubeproxy_proxy_livez_total{code="200"} 2');
  expect(text).toContain("portolan_store_revision ");
});
