import { expect, onTestFinished, test } from "vitest";
import { CoreError } from "../../src/core/errors.ts";
import { KINDS, type ModelObject } from "../../src/core/model/object.ts";
import { GlobalStore } from "../../src/core/store/global-store.ts";
import type { ApiClientOptions } from "../../src/sources/api/api-client.ts";
import { createApiSource } from "../../src/sources/api/api-source.ts";
import {
  sampleEndpoint,
  sampleGroup,
  sampleListener,
  sampleNode,
  sampleService,
} from "../support/samples.ts";
import { clientOptions, createReport, OWNER, portOf, startBrain, storeOf } from "./api-brain.ts";
import {
  deleteOp,
  OLD_SETS,
  type Plain,
  RESET_OP,
  SYNC_OP,
  setOp,
  startOldServer,
} from "./api-old-contract.ts";

async function follow(options: ApiClientOptions, store = new GlobalStore()) {
  const report = createReport();
  const source = createApiSource({ ...options, owner: "api" });
  onTestFinished(() => source.close());
  await source.start(store, report);
  return { store, report, source };
}

const objectsOf = (store: GlobalStore): ModelObject[] =>
  KINDS.flatMap((kind) => [...store.objects(kind)]);

/** The next commit of the store. */
const committed = (store: GlobalStore) =>
  new Promise<readonly string[]>((resolve) => {
    const stop = store.onCommit(({ changes }) => {
      stop();
      resolve(changes.map(({ action, kind, key }) => `${action} ${kind} ${key}`));
    });
  });

const web = sampleService({ name: "web", clusterIPs: ["10.96.0.1"] });
const endpoint = (ip: string) => sampleEndpoint({ group: "web", addresses: [ip] });
const objects: readonly ModelObject[] = [
  web,
  sampleListener({ name: "web", service: "default/web" }),
  sampleGroup({ name: "web" }),
  endpoint("10.0.0.1"),
  sampleNode({ name: "node-a", zone: "z1", tunnel: { address: "192.0.2.1:1", publicKey: "k" } }),
];

test("the whole state of another Portolan arrives, and each change in one transaction", async () => {
  const theirs = storeOf(objects);
  const { store, report } = await follow(clientOptions(portOf(await startBrain(theirs))));
  expect(store.isSynced()).toBe(false);
  await expect.poll(() => store.isSynced()).toBe(true);
  expect(objectsOf(store)).toEqual(objectsOf(theirs));
  expect(store.ownerOf("Service", "default/web")).toBe("api");

  const next = committed(store);
  theirs.transact(OWNER, (transaction) => {
    transaction.set({ ...web, affinitySeconds: 60 });
    transaction.delete("Endpoint", "default/web/10.0.0.1");
    transaction.delete("Listener", "default/web");
    transaction.set(endpoint("10.0.0.2"));
  });
  expect([...(await next)].sort()).toEqual([
    "create Endpoint default/web/10.0.0.2",
    "delete Endpoint default/web/10.0.0.1",
    "delete Listener default/web",
    "update Service default/web",
  ]);
  expect(report.failures).toEqual([]);
});

test("an empty API is synced too", async () => {
  const { store } = await follow(clientOptions(portOf(await startBrain(storeOf([])))));
  await expect.poll(() => store.isSynced()).toBe(true);
  expect(store.revision).toBe(0);
});

test("a new connection changes only what is different", async () => {
  const brain = await startBrain(storeOf(objects));
  const { store } = await follow(clientOptions(portOf(brain)));
  await expect.poll(() => store.isSynced()).toBe(true);
  const next = committed(store);
  await brain.server.close();
  expect(objectsOf(store)).toHaveLength(objects.length);
  const changed = objects.filter((object) => object.kind !== "Listener");
  await startBrain(storeOf([...changed, endpoint("10.0.0.2")]), { listen: brain.server.address });
  expect([...(await next)].sort()).toEqual([
    "create Endpoint default/web/10.0.0.2",
    "delete Listener default/web",
  ]);
});

test("what another owner holds is reported, and taken once it is free", async () => {
  const store = new GlobalStore();
  store.transact("file", (transaction) => transaction.set(web));
  const { report } = await follow(clientOptions(portOf(await startBrain(storeOf([web])))), store);
  await expect.poll(() => report.failures.length).toBeGreaterThan(0);
  expect(report.failures[0]).toMatchObject({ code: "ERR_KEY_TAKEN" });
  expect(store.ownerOf("Service", "default/web")).toBe("file");
  store.transact("file", (transaction) => transaction.delete("Service", "default/web"));
  await expect.poll(() => store.ownerOf("Service", "default/web")).toBe("api");
});

test("who may follow no more is told nothing more, and all of it when it may again", async () => {
  const theirs = storeOf(objects);
  let mayWatch = true;
  const assertMayWatch = (): void => {
    if (!mayWatch) throw new CoreError("ERR_UNAUTHORIZED", "its time is over");
  };
  const gate = { methods: new Map(), assertMayWatch };
  const brain = await startBrain(theirs, { gate });
  const { store, report } = await follow(clientOptions(portOf(brain)));
  await expect.poll(() => objectsOf(store)).toHaveLength(objects.length);
  mayWatch = false;
  theirs.transact(OWNER, (transaction) => transaction.set(endpoint("10.0.0.2")));
  await expect.poll(() => report.failures.at(-1)?.message).toContain("its time is over");
  expect(objectsOf(store)).toHaveLength(objects.length);
  mayWatch = true;
  await expect.poll(() => objectsOf(store)).toEqual(objectsOf(theirs));
});

test("who is refused in the midst of it shows what it has by now, before that is told", async () => {
  const theirs = storeOf(objects);
  let refusals = 0;
  const assertMayWatch = (): void => {
    refusals -= 1;
    if (refusals === 0) throw new CoreError("ERR_UNAUTHORIZED", "its time is over");
  };
  const brain = await startBrain(theirs, { gate: { methods: new Map(), assertMayWatch } });
  const { store, report } = await follow(clientOptions(portOf(brain)));
  await expect.poll(() => objectsOf(store)).toHaveLength(objects.length);
  refusals = 1;
  theirs.transact(OWNER, (transaction) => transaction.set(endpoint("10.0.0.2")));
  await expect.poll(() => objectsOf(store)).toEqual(objectsOf(theirs));
  expect(refusals).toBeLessThanOrEqual(0);
  expect(report.failures).toEqual([]);
});

test("closing ends it, also while it waits for a server", async () => {
  const { server } = await startBrain(storeOf([]));
  const port = server.address.kind === "tcp" ? server.address.port : 0;
  await server.close();
  const { report, source } = await follow(clientOptions(port));
  await expect.poll(() => report.failures.length).toBeGreaterThan(0);
  await source.close();
  await source.close();
});

const { serviceInfos, endpointInfos, nodeInfos } = OLD_SETS;
const info = (ip: string, podName: string, ready: boolean): Plain => ({
  Hash: 1,
  Namespace: "default",
  SourceName: "web-abc",
  ServiceName: "web",
  Endpoint: { IPs: { V4: [ip] }, PortOverrides: [{ Name: "http", Port: 8080 }] },
  Conditions: { Ready: ready },
  PodName: podName,
  Topology: { Node: "node-a", Zone: "z1" },
  Hints: { Zones: ["z1"] },
});

test("the state of a KPNG server arrives, and a changed endpoint stays the same endpoint", async () => {
  const rows = (hash: string, value: Plain) => [
    setOp(endpointInfos, `default||web-abc|${hash}`, value),
    setOp(endpointInfos, `default|web|web-abc|${hash}`, value),
  ];
  const gone = (hash: string) => [
    deleteOp(endpointInfos, `default|web|web-abc|${hash}`),
    deleteOp(endpointInfos, `default||web-abc|${hash}`),
  ];
  const server = await startOldServer("globalv1.Sets", () => [
    {
      ops: [
        RESET_OP,
        setOp(nodeInfos, "|node-a||", { Node: { Name: "node-a", Topology: { Zone: "z1" } } }),
        setOp(serviceInfos, "default|web||", {
          Service: {
            Namespace: "default",
            Name: "web",
            Type: "ClusterIP",
            IPs: { ClusterIPs: { V4: ["10.96.0.1"] } },
            IPFilters: [{ SourceRanges: ["10.0.0.0/8"] }],
            Ports: [{ Name: "http", Protocol: 1, Port: 80, TargetPortName: "http" }],
          },
        }),
        ...rows("aaaa", info("10.0.0.1", "pod-1", true)),
        ...rows("bbbb", info("10.0.0.2", "", true)),
        SYNC_OP,
      ],
    },
    { ops: [...rows("cccc", info("10.0.0.1", "pod-1", false)), ...gone("aaaa"), SYNC_OP] },
    { ops: [...gone("cccc"), SYNC_OP] },
  ]);
  onTestFinished(() => server.close());
  const store = new GlobalStore();
  const commits: string[][] = [];
  store.onCommit(({ changes }) =>
    commits.push(changes.map(({ action, kind, key }) => `${action} ${kind} ${key}`)),
  );
  await follow(clientOptions(server.port), store);
  await expect.poll(() => commits.length).toBe(3);
  expect(commits[0]?.toSorted()).toEqual([
    "create Endpoint default/web/bbbb@web-abc",
    "create Endpoint default/web/pod-1@web-abc",
    "create Node node-a",
    "create Service default/web",
  ]);
  expect(commits.slice(1)).toEqual([
    ["update Endpoint default/web/pod-1@web-abc"],
    ["delete Endpoint default/web/pod-1@web-abc"],
  ]);
  expect(store.get("Node", "node-a")).toMatchObject({ zone: "z1", alive: true });
  expect(store.get("Service", "default/web")).toMatchObject({ sourceRanges: ["10.0.0.0/8"] });
  expect(store.get("Endpoint", "default/web/bbbb@web-abc")).toMatchObject({
    podName: "",
    source: "web-abc",
    node: "node-a",
    hints: { zones: ["z1"], nodes: [] },
    ready: true,
    serving: true,
  });
});
