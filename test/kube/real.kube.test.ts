import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureHelm } from "../../bench/support/ensure-go-program.ts";
import { startCli } from "../support/cli.ts";
import { kubeNode, kubeService, kubeSlice } from "../support/kube-objects.ts";
import { MANIFEST_VALUES } from "../support/manifest-values.ts";
import { type RealCluster, startCluster } from "./real-cluster.ts";

const run = promisify(execFile);
const DEPLOY = new URL("../../deploy/", import.meta.url).pathname;
const CHART = join(DEPLOY, "helm/portolan");
const MANIFESTS = join(DEPLOY, "manifests");

let cluster: RealCluster;

beforeAll(async () => {
  cluster = await startCluster();
}, 2_000_000);

afterAll(async () => {
  await cluster?.close();
});

const apply = (object: object) => cluster.kubectl(["apply", "-f", "-"], JSON.stringify(object));

test("without rights it says which one is missing; with those of the manifests it follows", async () => {
  const args = ["run", "--from", "kube", "--kubeconfig", cluster.kubeconfig, "--node", "node-a"];
  const refused = await startCli([...args, "--to", "print", "--once"]).ended();
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/\(403\): Forbidden: .* cannot list resource/);

  await cluster.kubectl(["apply", "-f", join(MANIFESTS, "nftables.yaml")]);
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "portolan-of-the-test" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "portolan" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "portolan" }],
  };
  await apply(binding);
  const cli = startCli([...args, "--to", "print", "--format", "brief"]);
  await cli.waitFor(/set services default\/kubernetes .*\nsync\n/);

  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await apply(kubeNode("node-a"));
  await apply(kubeNode("node-b"));
  await apply(kubeService("web", 200));
  await apply(kubeSlice("web", "web-a", ["10.0.0.1"]));
  await cli.waitFor(/set endpoints shop\/web\/pod-10-0-0-1@web-a .*10\.0\.0\.1:8080/);
  await cli.waitFor(/set nodes node-a /);

  // While it is away nothing is lost, and what changed afterwards comes.
  await cluster.restart();
  await cluster.kubectl(["delete", "endpointslice", "web-a", "-n", "shop"]);
  await cli.waitFor(/delete endpoints shop\/web\/pod-10-0-0-1@web-a/);
  await cluster.kubectl(["delete", "node", "node-a"]);
  await cli.waitFor(/delete nodes node-a/);
  expect(cli.stdout).not.toContain("node-b");
  expect(cli.stdout).not.toContain("delete services");
  expect((await cli.stop()).code).toBe(0);
});

test.each(readdirSync(MANIFESTS))(
  "the API server takes %s, with no field that it does not know",
  async (file) => {
    const path = join(MANIFESTS, file);
    await cluster.kubectl(["apply", "--dry-run=server", "--validate=strict", "-f", path]);
  },
);

test("the manifests are what the chart renders", async () => {
  const helm = await ensureHelm((text) => process.stderr.write(`${text}\n`));
  await run(helm, ["lint", CHART, "--set", "kubeServers={https://10.0.0.1:6443}"]);
  for (const [file, values] of MANIFEST_VALUES) {
    const sets = values.flatMap((value) => ["--set", value]);
    const args = [
      "template",
      "portolan",
      CHART,
      "--namespace",
      "kube-system",
      "--kube-version",
      "1.36.0",
      ...sets,
    ];
    const { stdout } = await run(helm, args);
    const documents = (text: string) => loadAll(text).filter((part) => part !== null);
    const written = readFileSync(join(MANIFESTS, file), "utf8");
    expect(documents(written)).toEqual(documents(stdout));
  }
});
