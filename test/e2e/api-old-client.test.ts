import { status } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import type { ModelObject } from "../../src/core/model/object.ts";
import type { GlobalStore } from "../../src/core/store/global-store.ts";
import {
  sampleEndpoint,
  sampleListener,
  sampleNode,
  samplePort,
  sampleService,
} from "../support/samples.ts";
import { OWNER, startBrain, storeOf } from "./api-brain.ts";
import { OLD_SETS, type OldClient, openOldClient } from "./api-old-contract.ts";
import { StrictNode } from "./api-strict-node.ts";

/** A strict old client on a brain of ours, and the state that it holds. */
async function watchStrictly(objects: Iterable<ModelObject>, nodeName = "node-a") {
  const store = storeOf(objects);
  const { address } = await startBrain(store);
  const client = openOldClient(address, "/localv1.Sets/Watch");
  onTestFinished(() => client.close());
  const node = new StrictNode();
  const next = async () => {
    const ops = await client.change({ NodeName: nodeName });
    node.apply(ops);
    return ops;
  };
  await next();
  return { store, node, next, client };
}

function write(store: GlobalStore, ...objects: readonly ModelObject[]): void {
  store.transact(OWNER, (transaction) => {
    for (const object of objects) transaction.set(object);
  });
}

const nodes = [sampleNode({ name: "node-a" }), sampleNode({ name: "node-b" })];
const web = sampleService({ name: "web", clusterIPs: ["10.96.0.1"] });
const at = (node: string, ip: string, fields = {}) =>
  sampleEndpoint({
    group: "web",
    addresses: [ip],
    name: `pod-${ip}`,
    podName: `pod-${ip}`,
    node,
    ...fields,
  });

test("an empty cluster gets its sync", async () => {
  const store = storeOf([]);
  const { address } = await startBrain(store);
  const client = openOldClient(address, "/localv1.Sets/Watch");
  onTestFinished(() => client.close());
  expect(await client.change({ NodeName: "node-a" })).toEqual([{ op: "reset" }, { op: "sync" }]);
});

test("services and endpoints arrive with what the old messages can say", async () => {
  const service = sampleService({
    name: "web",
    type: "LoadBalancer",
    labels: { app: "web" },
    clusterIPs: ["fd00::1", "10.96.0.1"],
    loadBalancerIPs: ["192.0.2.1", "2001:db8::1"],
    sourceRanges: ["2001:db8:1::/48", "198.51.100.0/24"],
    affinitySeconds: 60,
    externalTrafficPolicy: "Local",
    healthCheckNodePort: 31_000,
    ports: [samplePort({ name: "http", nodePort: 30_080 })],
  });
  const { node } = await watchStrictly([
    ...nodes,
    service,
    at("node-a", "10.0.0.1", { ports: [{ name: "http", port: 8080 }] }),
    at("node-b", "10.0.0.2", { ports: [{ name: "http", port: 8081 }] }),
    sampleListener({ name: "web", service: "default/web" }),
  ]);
  expect(node.services.get("default/web")).toMatchObject({
    Namespace: "default",
    Name: "web",
    Type: "LoadBalancer",
    Labels: { app: "web" },
    IPs: {
      ClusterIPs: { V4: ["10.96.0.1"], V6: ["fd00::1"] },
      LoadBalancerIPs: { V4: ["192.0.2.1"], V6: ["2001:db8::1"] },
      Headless: false,
    },
    IPFilters: [
      { TargetIPs: { V4: ["192.0.2.1"] }, SourceRanges: ["198.51.100.0/24"] },
      { TargetIPs: { V6: ["2001:db8::1"] }, SourceRanges: ["2001:db8:1::/48"] },
    ],
    ClientIP: { TimeoutSeconds: 60 },
    ExternalTrafficToLocal: true,
    InternalTrafficToLocal: false,
    HealthCheckNodePort: 31_000,
    Ports: [{ Name: "http", Protocol: 1, Port: 80, NodePort: 30_080, TargetPort: 8080 }],
  });
  expect(node.endpoints.get("default/web/pod-10.0.0.1")).toMatchObject({
    IPs: { V4: ["10.0.0.1"], V6: [] },
    Local: true,
    Scopes: { Internal: true, External: true },
  });
  expect(node.endpoints.get("default/web/pod-10.0.0.2")).toMatchObject({
    Local: false,
    Scopes: { Internal: true, External: false },
  });
  expect(node.targets("default/web")).toEqual({
    "default/web/pod-10.0.0.1": { 80: 8080 },
    "default/web/pod-10.0.0.2": { 80: 8081 },
  });
});

test("an old client resolves just the ports that the node may use", async () => {
  const unnamed = sampleService({ name: "unnamed", ports: [samplePort({ targetPort: 0 })] });
  const numbered = sampleService({ name: "numbered", ports: [samplePort({ targetPort: 9000 })] });
  const byName = sampleService({
    name: "by-name",
    ports: [
      samplePort({ targetPort: 0, targetPortName: "http" }),
      samplePort({ name: "http", port: 81, targetPort: 0 }),
    ],
  });
  const endpoint = (group: string, ip: string, ports: { name: string; port: number }[]) =>
    sampleEndpoint({ group, addresses: [ip], name: ip, podName: ip, ports });
  const { node } = await watchStrictly([
    unnamed,
    endpoint("unnamed", "10.0.0.1", [{ name: "", port: 1001 }]),
    endpoint("unnamed", "10.0.0.2", [{ name: "", port: 1002 }]),
    numbered,
    endpoint("numbered", "10.0.0.1", []),
    endpoint("numbered", "10.0.0.2", [{ name: "", port: 1002 }]),
    byName,
    endpoint("by-name", "10.0.0.1", [{ name: "http", port: 1001 }]),
    endpoint("by-name", "10.0.0.2", [
      { name: "", port: 1002 },
      { name: "http", port: 1003 },
    ]),
  ]);
  expect(node.targets("default/unnamed")).toEqual({
    "default/unnamed/10.0.0.1": { 80: 1001 },
    "default/unnamed/10.0.0.2": { 80: 1002 },
  });
  expect(node.targets("default/numbered")).toEqual({
    "default/numbered/10.0.0.1": { 80: 9000 },
    "default/numbered/10.0.0.2": { 80: 1002 },
  });
  expect(node.targets("default/by-name")).toEqual({
    "default/by-name/10.0.0.1": { 80: 1001, 81: 1001 },
    "default/by-name/10.0.0.2": { 80: 1002, 81: 1003 },
  });
});

test("an endpoint in neither scope is not sent, and scopes follow the policies", async () => {
  const service = sampleService({ name: "web", externalIPs: ["192.0.2.1"] });
  const { store, node, next } = await watchStrictly([
    ...nodes,
    service,
    at("node-a", "10.0.0.1"),
    at("node-b", "10.0.0.2"),
  ]);
  const remote = "default/web/pod-10.0.0.2";
  expect(node.endpoints.get(remote)).toMatchObject({ Scopes: { Internal: true, External: true } });

  write(store, { ...service, internalTrafficPolicy: "Local" });
  await next();
  expect(node.endpoints.get(remote)).toMatchObject({ Scopes: { Internal: false, External: true } });

  write(store, { ...service, internalTrafficPolicy: "Local", externalTrafficPolicy: "Local" });
  await next();
  expect([...node.endpoints.keys()]).toEqual(["default/web/pod-10.0.0.1"]);

  // The client never heard of it, so it does not hear of its end either.
  store.transact(OWNER, (transaction) => transaction.delete("Endpoint", remote));
  write(store, at("node-a", "10.0.0.3"));
  const ops = await next();
  expect(ops.filter((op) => op.op === "delete")).toEqual([]);
  expect([...node.endpoints.keys()]).toEqual([
    "default/web/pod-10.0.0.1",
    "default/web/pod-10.0.0.3",
  ]);
});

test("named and anonymous endpoints come and go in the order of the contract", async () => {
  const named = (name: string) => at("node-b", `10.0.0.${name.at(-1)}`, { name, podName: name });
  const nameless = (digit: string) => {
    const name = `${digit.repeat(16)}@slice-1`;
    return at("node-b", `10.0.1.${digit}`, { name, podName: "" });
  };
  const { store, node, next } = await watchStrictly([
    web,
    named("pod-1"),
    named("pod-2"),
    nameless("1"),
    nameless("2"),
  ]);
  store.transact(OWNER, (transaction) => {
    for (const name of ["pod-1", `${"1".repeat(16)}@slice-1`]) {
      transaction.delete("Endpoint", `default/web/${name}`);
    }
    for (const object of [named("pod-3"), named("pod-4"), nameless("3"), nameless("4")]) {
      transaction.set(object);
    }
    transaction.set(sampleService({ name: "another" }));
  });
  const ops = await next();
  const paths = ops.flatMap((op) =>
    "path" in op ? [`${op.op} ${op.path.split("/").at(-1)}`] : [],
  );
  expect(paths).toEqual([
    "set another",
    `delete ${"1".repeat(16)}@slice-1`,
    "set pod-3",
    "set pod-4",
    "delete pod-1",
    `set ${"3".repeat(16)}@slice-1`,
    `set ${"4".repeat(16)}@slice-1`,
  ]);
  store.transact(OWNER, (transaction) => transaction.replaceAll([]));
  await next();
  expect([node.services.size, node.endpoints.size]).toEqual([0, 0]);
});

test("a pod of two slices, one a family, arrives twice", async () => {
  const slice = (family: string, ip: string) =>
    at("node-b", ip, { name: `pod-1@web-${family}`, podName: "pod-1", source: `web-${family}` });
  const { node } = await watchStrictly([web, slice("v4", "10.0.0.1"), slice("v6", "fd00::1")]);
  expect([...node.endpoints.keys()]).toEqual([
    "default/web/pod-1@web-v4",
    "default/web/pod-1@web-v6",
  ]);
});

test("another node's name in a request begins anew with that node's state", async () => {
  const { node, client } = await watchStrictly([...nodes, web, at("node-a", "10.0.0.1")]);
  const path = "default/web/pod-10.0.0.1";
  expect(node.endpoints.get(path)).toMatchObject({ Local: true });
  const ops = await client.change({ NodeName: "node-b" });
  expect(ops[0]).toEqual({ op: "reset" });
  node.apply(ops);
  expect(node.endpoints.get(path)).toMatchObject({ Local: false });
});

test("the global API sends nodes, services and two rows for each endpoint, in order", async () => {
  const store = storeOf([
    ...nodes,
    web,
    at("node-a", "10.0.0.1", { source: "slice-1" }),
    sampleListener({ name: "web", service: "default/web" }),
  ]);
  const { address } = await startBrain(store);
  const client: OldClient = openOldClient(address, "/globalv1.Sets/Watch");
  onTestFinished(() => client.close());
  const pathsOf = async () =>
    (await client.change()).map((op) => ("path" in op ? `${op.op} ${op.set} ${op.path}` : op.op));
  const { nodeInfos, serviceInfos, endpointInfos } = OLD_SETS;
  expect(await pathsOf()).toEqual([
    "reset",
    `set ${nodeInfos} |node-a||`,
    `set ${nodeInfos} |node-b||`,
    `set ${serviceInfos} default|web||`,
    `set ${endpointInfos} default|web|slice-1|pod-10.0.0.1`,
    `set ${endpointInfos} default||slice-1|pod-10.0.0.1`,
    "sync",
  ]);
  write(store, at("node-a", "10.0.0.1", { source: "slice-2" }));
  expect(await pathsOf()).toEqual([
    `set ${endpointInfos} default|web|slice-2|pod-10.0.0.1`,
    `set ${endpointInfos} default||slice-2|pod-10.0.0.1`,
    `delete ${endpointInfos} default||slice-1|pod-10.0.0.1`,
    `delete ${endpointInfos} default|web|slice-1|pod-10.0.0.1`,
    "sync",
  ]);
  store.transact(OWNER, (transaction) => transaction.replaceAll([]));
  expect(await pathsOf()).toEqual([
    `delete ${endpointInfos} default||slice-2|pod-10.0.0.1`,
    `delete ${endpointInfos} default|web|slice-2|pod-10.0.0.1`,
    `delete ${serviceInfos} default|web||`,
    `delete ${nodeInfos} |node-b||`,
    `delete ${nodeInfos} |node-a||`,
    "sync",
  ]);
});

test("wrong calls end with a status that says why", async () => {
  const { address } = await startBrain(storeOf([]), { maxMessageBytes: 100 });
  const end = async (method: string, bytes: Buffer) => {
    const client = openOldClient(address, method);
    onTestFinished(() => client.close());
    client.sendRaw(bytes);
    return client.status;
  };
  expect(await end("/localv1.Sets/Listen", Buffer.alloc(0))).toMatchObject({
    code: status.UNIMPLEMENTED,
    details: expect.stringContaining("/localv1.Sets/Watch"),
  });
  expect(await end("/localv1.Sets/Watch", Buffer.alloc(101))).toMatchObject({
    code: status.RESOURCE_EXHAUSTED,
    details: "gRPC message of 101 bytes is too large; expected at most 100",
  });
  expect(await end("/localv1.Sets/Watch", Buffer.from("ff", "hex"))).toMatchObject({
    code: status.INVALID_ARGUMENT,
  });
});

test("a server that goes away tells its clients that others may serve", async () => {
  const brain = await startBrain(storeOf([]));
  const client = openOldClient(brain.address, "/localv1.Sets/Watch");
  await client.change();
  const closed = brain.server.close();
  expect(await client.status).toMatchObject({ code: status.UNAVAILABLE });
  client.close();
  await closed;
});

test("calls beyond the limit are refused", async () => {
  const { address } = await startBrain(storeOf([]), { maxCalls: 1 });
  const first = openOldClient(address, "/localv1.Sets/Watch");
  onTestFinished(() => first.close());
  await first.change();
  const second = openOldClient(address, "/localv1.Sets/Watch");
  onTestFinished(() => second.close());
  await expect(second.change()).rejects.toThrow(/RESOURCE_EXHAUSTED/);
});
