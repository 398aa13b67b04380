import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeCertificates } from "../support/certificates.ts";
import { runCli, startCli } from "../support/cli.ts";
import { kubeNode, kubeService, kubeSlice } from "../support/kube-objects.ts";
import { KubeServer, type KubeServerOptions } from "../support/kube-server.ts";

async function startShop(options: KubeServerOptions = {}): Promise<KubeServer> {
  const server = await KubeServer.start(options);
  onTestFinished(() => server.close());
  server.put(kubeNode("node-a"));
  server.put(kubeNode("node-b"));
  server.put(kubeService("web", 1));
  server.put(kubeSlice("web", "web-a", ["10.0.0.1"]));
  return server;
}

test("run --from kube with a kubeconfig, TLS and a token file that is rotated", async () => {
  const folder = await mkdtemp(join(tmpdir(), "portolan-kube-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { caFile, certFile, keyFile } = await makeCertificates(folder, "kube");
  const token = join(folder, "token");
  await writeFile(token, "first\n");
  let valid = "first";
  const server = await startShop({
    tls: { cert: await readFile(certFile), key: await readFile(keyFile) },
    admits: ({ headers }) => headers.authorization === `Bearer ${valid}`,
  });
  const kubeconfig = join(folder, "kubeconfig");
  const config = {
    clusters: [{ name: "c", cluster: { server: server.url, "certificate-authority": caFile } }],
    users: [{ name: "u", user: { tokenFile: "token" } }],
    contexts: [{ name: "prod", context: { cluster: "c", user: "u" } }],
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const source = ["--from", "kube:prod", "--kubeconfig", kubeconfig, "--node", "node-a"];
  const cli = startCli(["run", ...source, "--to", "print"]);
  await cli.waitFor(/^sync$/m);
  expect(cli.stdout).toContain("set services shop/web ");
  // Only its own node.
  expect(cli.stdout).toContain("set nodes node-a ");
  expect(cli.stdout).not.toContain("set nodes node-b ");

  valid = "second";
  await writeFile(token, "second\n");
  server.dropWatches();
  server.put(kubeSlice("web", "web-a", ["10.0.0.1", "10.0.0.2"]));
  await cli.waitFor(/set endpoints shop\/web\/pod-10-0-0-2@web-a /);
  expect((await cli.stop()).code).toBe(0);
});

test("a cluster that can not be reached: --once fails, and says what was tried", async () => {
  const server = await startShop();
  await server.close();
  const once = await runCli([
    "run",
    "--from",
    "kube",
    "--kube-server",
    server.url,
    "--to",
    "print",
    "--once",
  ]);
  expect(once.code).toBe(1);
  expect(once.stderr).toContain(`the Kubernetes API at ${server.url} can not be reached`);
});
