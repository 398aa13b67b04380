import { expect, test } from "vitest";
import {
  expectedOf,
  type Followed,
  followKube,
  objectsOf,
  startKubeServer,
} from "../../../test/support/kube-follow.ts";
import { kubeNode, kubeService, kubeSlice } from "../../../test/support/kube-objects.ts";
import type { Fault, KubeServer } from "../../../test/support/kube-server.ts";
import { keyOf } from "../../core/model/object.ts";
import { GlobalStore } from "../../core/store/global-store.ts";

/** Waits until the store has just what the server has. */
async function settled({ store }: Followed, server: KubeServer): Promise<void> {
  const names = (objects: ReturnType<typeof objectsOf>) =>
    new Map(objects.map((object) => [`${object.kind} ${keyOf(object)}`, object]));
  await expect.poll(() => store.isSynced()).toBe(true);
  await expect.poll(() => names(objectsOf(store))).toEqual(names(expectedOf(server)));
}

const web = kubeService("web", 1);
const db = kubeService("db", 2);
const slice = kubeSlice("web", "web-x7k2p", ["10.0.0.1", "10.0.0.2"]);

async function startShop(): Promise<KubeServer> {
  const server = await startKubeServer();
  for (const object of [web, db, kubeService("cache", 3), slice, kubeNode("node-a")]) {
    server.put(object);
  }
  return server;
}

test("lists in pages, follows what comes, changes and goes, and says where from", async () => {
  const server = await startShop();
  const followed = await followKube([server.url]);
  await settled(followed, server);
  expect(followed.oks).toEqual([`follows ${server.url} (test)`]);
  // Three services in pages of two.
  expect(server.requests.filter((line) => line.startsWith("list services"))).toHaveLength(2);

  server.put(kubeService("new", 9));
  server.put(kubeSlice("web", "web-x7k2p", ["10.0.0.2", "10.0.0.3"]));
  server.remove(db);
  await settled(followed, server);
  expect(followed.failures).toEqual([]);
  expect(followed.changes.filter((line) => line.startsWith("delete")).sort()).toEqual([
    "delete Endpoint shop/web/pod-10-0-0-1@web-x7k2p",
    "delete Service shop/db",
  ]);
});

test("an empty cluster is synced too", async () => {
  const server = await startKubeServer();
  const followed = await followKube([server.url]);
  await settled(followed, server);
  expect(followed.store.revision).toBe(0);
});

test("only what is needed is kept, and what changes besides costs nothing", async () => {
  const server = await startShop();
  const followed = await followKube([server.url]);
  await settled(followed, server);
  expect(followed.store.get("Service", "shop/web")).toMatchObject({ labels: {}, annotations: {} });
  expect(followed.store.get("Node", "node-a")?.labels).toEqual({
    "kubernetes.io/hostname": "node-a",
  });
  const { revision } = followed.store;
  // A node's heartbeat, and a label that nobody asked for.
  server.put(kubeNode("node-a", { status: { ...Object(kubeNode("node-a")["status"]), beat: 2 } }));
  server.put({ ...web, metadata: { ...web.metadata, labels: { other: "1" } } });
  server.put(kubeService("last", 7));
  await settled(followed, server);
  expect(followed.store.revision).toBe(revision + 1);
});

test("services for other proxies, headless ones and names stay out, also when they become so", async () => {
  const server = await startShop();
  const followed = await followKube([server.url]);
  await settled(followed, server);
  const proxied = { "service.kubernetes.io/service-proxy-name": "other" };
  server.put({ ...web, metadata: { ...web.metadata, labels: proxied } });
  server.put(kubeService("db", 2, { clusterIP: "None", clusterIPs: ["None"] }));
  server.put(kubeService("cache", 3, { type: "ExternalName", clusterIP: "", clusterIPs: [] }));
  server.put(kubeSlice("web", "web-x7k2p", ["10.0.0.1"], { "service.kubernetes.io/headless": "" }));
  await expect.poll(() => objectsOf(followed.store).map(keyOf)).toEqual(["node-a"]);
  expect(expectedOf(server).map(keyOf)).toEqual(["node-a"]);

  const other = await followKube([server.url], { proxyName: "other" });
  await expect.poll(() => [...other.store.objects("Service")].map(keyOf)).toEqual(["shop/web"]);
});

test("only one node where only one is wanted; when it goes, it is gone", async () => {
  const server = await startShop();
  server.put(kubeNode("node-b"));
  const followed = await followKube([server.url], { node: "node-b" });
  await expect.poll(() => [...followed.store.objects("Node")].map(keyOf)).toEqual(["node-b"]);
  server.remove(kubeNode("node-b"));
  await expect.poll(() => [...followed.store.objects("Node")]).toEqual([]);
});

test("a node that is being deleted, or that the autoscaler removes, is about to go", async () => {
  const server = await startShop();
  const followed = await followKube([server.url]);
  const leaving = () => followed.store.get("Node", "node-a")?.leaving;
  await expect.poll(leaving).toBe("");
  const taint = { key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" };
  server.put(kubeNode("node-a", { spec: { taints: [{ key: "other" }, taint] } }));
  await expect.poll(leaving).toBe("it is tainted ToBeDeletedByClusterAutoscaler");
  server.put(kubeNode("node-a"));
  await expect.poll(leaving).toBe("");
  const { metadata } = kubeNode("node-a");
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  server.put({ ...kubeNode("node-a"), metadata: { ...metadata, deletionTimestamp } });
  await expect.poll(leaving).toBe("it is being deleted");
});

const FAULTS: readonly Fault[] = [
  ...([410, 429, 500, 503, 404] as const).flatMap((status): readonly Fault[] => [
    { on: "list", does: "status", status },
    { on: "watch", does: "status", status },
  ]),
  { on: "list", does: "half" },
  { on: "watch", does: "half" },
  { on: "watch", does: "end" },
  { on: "watch", does: "garbage" },
  { on: "watch", does: "twice" },
  { on: "watch", does: "bookmark" },
  { on: "watch", does: "expired" },
  { on: "watch", does: "old", by: 3 },
  { on: "list", does: "stale", by: 2 },
];

test.each(FAULTS)("the state is the server's after %j", async (fault) => {
  const server = await startShop();
  server.faults.push(fault, fault);
  const followed = await followKube([server.url]);
  await settled(followed, server);
  server.put(kubeService("during", 8));
  server.remove(db);
  server.faults.push(fault);
  server.dropWatches();
  server.put(kubeSlice("web", "web-x7k2p", ["10.0.0.2"]));
  await settled(followed, server);
  expect(followed.changes.filter((line) => line === "delete Service shop/web")).toEqual([]);
  expect(followed.oks.at(-1)).toBe(`follows ${server.url} (test)`);
});

test("after a version that is gone, what went meanwhile goes and nothing else is touched", async () => {
  const server = await startShop();
  const followed = await followKube([server.url]);
  await settled(followed, server);
  await expect.poll(() => server.watchers).toBe(3);
  const before = followed.changes.length;
  server.faults.push({ on: "watch", does: "status", status: 429 });
  server.dropWatches();
  server.remove(db);
  server.put(kubeSlice("web", "web-x7k2p", ["10.0.0.1", "10.0.0.2", "10.0.0.9"]));
  server.compact();
  await settled(followed, server);
  expect(followed.changes.slice(before).sort()).toEqual([
    "create Endpoint shop/web/pod-10-0-0-9@web-x7k2p",
    "delete Service shop/db",
  ]);
  const { source } = followed;
  // Servers know of a watch before those who asked for it hear that it is there.
  await expect
    .poll(() => source.details?.())
    .toMatch(/^\d+ events, 3 reconnects, 3 times read anew, requests take [\d.]+ ms$/);
  const families = new Map(source.metrics?.().map(({ name, samples }) => [name, samples]));
  const all = (value: number) =>
    ["services", "slices", "nodes"].map((resource) => ({ labels: { resource }, value }));
  expect(families.get("kube_relists_total")).toEqual(all(1));
  expect(families.get("kube_reconnects_total")).toEqual(all(1));
  expect(families.get("kube_stale_seconds")).toEqual(all(0));
  const failed = families.get("kube_request_failures_total")?.map(({ labels }) => labels["call"]);
  expect(failed).toContain("watch endpointslices");
});

/** Addresses of one slice that only ever grow: whoever has a smaller one after a larger went back in time. */
async function followClock() {
  const server = await startKubeServer();
  let ticks = 0;
  const tick = (): void => {
    ticks += 1;
    server.put(kubeSlice("clock", "clock-a", [`10.9.0.${ticks}`]));
  };
  for (let count = 0; count < 6; count += 1) tick();
  const followed = await followKube([server.url]);
  const seen: (string | undefined)[] = [];
  followed.store.onCommit(() => {
    seen.push([...followed.store.objects("Endpoint")].map(keyOf)[0]?.match(/-(\d+)@/)?.[1]);
  });
  await settled(followed, server);
  await expect.poll(() => server.watchers).toBe(3);
  return { server, followed, tick, seen };
}

test("a server that tells old news again takes nobody back in time", async () => {
  const { server, followed, tick, seen } = await followClock();
  server.faults.push(
    ...Array.from({ length: 3 }, () => ({ on: "watch", does: "old", by: 4 }) as const),
  );
  server.dropWatches();
  await expect.poll(() => server.watchers).toBe(3);
  tick();
  await settled(followed, server);
  expect(seen.slice(seen.indexOf("6"))).toEqual(["6", "7"]);
});

test("a list of a server that lags behind is not believed", async () => {
  const { server, followed, tick, seen } = await followClock();
  server.faults.push(
    ...Array.from({ length: 3 }, () => ({ on: "list", does: "stale", by: 4 }) as const),
  );
  server.dropWatches();
  tick();
  server.compact();
  await settled(followed, server);
  expect(seen.slice(seen.indexOf("6"))).toEqual(["6", "7"]);
});

test("a bookmark moves the place from which a watch goes on", async () => {
  const server = await startShop();
  const followed = await followKube([server.url]);
  await settled(followed, server);
  await expect.poll(() => server.watchers).toBe(3);
  server.put(kubeService("later", 20));
  server.bookmark();
  await settled(followed, server);
  server.compact();
  server.dropWatches();
  await expect.poll(() => server.watchers).toBe(3);
  expect(server.requests).toContain(`watch nodes ${server.revision}`);
  expect(server.requests.filter((line) => line.startsWith("list nodes"))).toHaveLength(1);
});

test("a cluster that was set back is believed once all of it says so", async () => {
  const server = await startShop();
  const first = await followKube([server.url]);
  await settled(first, server);
  const port = Number(new URL(server.url).port);
  await server.close();
  const restored = await startKubeServer({ port });
  restored.put(web);
  await settled(first, restored);
});

test("where one server is gone the next one is asked", async () => {
  const gone = await startKubeServer();
  await gone.close();
  const server = await startShop();
  const followed = await followKube([gone.url, server.url]);
  await settled(followed, server);
  expect(followed.failures).toEqual([]);
  expect(followed.oks).toEqual([`follows ${server.url} (test)`]);
});

test("waits grow while nobody answers, and it is reported", async () => {
  const server = await startShop();
  await server.close();
  const followed = await followKube([server.url]);
  await expect.poll(() => followed.waits.length).toBeGreaterThan(12);
  expect(followed.failures[0]).toMatchObject({ code: "ERR_API_UNREACHABLE" });
  const sorted = [...followed.waits].sort((a, b) => a - b);
  expect(sorted[0]).toBe(250);
  expect(sorted.at(-1)).toBeGreaterThanOrEqual(2000);
  expect(followed.store.isSynced()).toBe(false);
});

test("a server that says when to come back is obeyed, up to a minute", async () => {
  const server = await startShop();
  server.faults.push(
    { on: "list", does: "status", status: 429, retryAfterSeconds: 7 },
    { on: "list", does: "status", status: 503, retryAfterSeconds: 3600 },
  );
  const followed = await followKube([server.url]);
  await settled(followed, server);
  expect([...followed.waits].sort((a, b) => a - b)).toEqual([7000, 60_000]);
});

test("a place that the server does not understand is left for a list", async () => {
  const server = await startShop();
  const followed = await followKube([server.url]);
  await settled(followed, server);
  await expect.poll(() => server.watchers).toBe(3);
  const before = server.requests.length;
  server.faults.push({ on: "watch", does: "status", status: 400 });
  server.dropWatches();
  await expect.poll(() => server.watchers).toBe(3);
  expect(server.requests.slice(before)).toContainEqual(expect.stringMatching(/^list /));
});

test("what can not be read is named and left out; what was known of it stays", async () => {
  const server = await startShop();
  const followed = await followKube([server.url]);
  await settled(followed, server);
  server.put(kubeService("web", 1, { ports: [{ port: 70_000 }] }));
  server.put(kubeService("fine", 11));
  await expect.poll(() => followed.store.get("Service", "shop/fine")).toBeDefined();
  expect(followed.store.get("Service", "shop/web")?.ports[0]?.port).toBe(80);
  expect(followed.oks.at(-1)).toContain("left out: Service shop/web: spec.ports[0].port: 70000");
  server.put(web);
  await settled(followed, server);
  await expect.poll(() => followed.oks.at(-1)).not.toContain("left out");
});

test("two services that claim one external address: the first has it, the other waits", async () => {
  const server = await startKubeServer();
  const claim = { externalIPs: ["198.51.100.1"] };
  server.put(kubeService("web", 1, claim));
  const followed = await followKube([server.url]);
  await settled(followed, server);
  server.put(kubeService("db", 2, claim));
  server.put(kubeService("other", 3));
  await expect.poll(() => followed.store.get("Service", "shop/other")).toBeDefined();
  expect(followed.store.get("Service", "shop/db")).toBeUndefined();
  await expect.poll(() => followed.oks.at(-1)).toContain("198.51.100.1");
  server.remove(web);
  await settled(followed, server);
  expect(followed.store.get("Service", "shop/db")).toBeDefined();
});

test("50,000 objects in pages", async () => {
  const server = await startKubeServer();
  for (let index = 0; index < 50_000; index += 1) {
    server.put(
      kubeSlice("web", `web-${index}`, [`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`]),
    );
  }
  const followed = await followKube([server.url], { pageSize: 500 });
  await expect.poll(() => followed.store.isSynced(), { timeout: 25_000 }).toBe(true);
  expect([...followed.store.objects("Endpoint")]).toHaveLength(50_000);
  expect(server.requests.filter((line) => line.startsWith("list endpointslices"))).toHaveLength(
    100,
  );
});

test("closing ends it, also before it began", async () => {
  const server = await startShop();
  const { source } = await followKube([server.url]);
  await source.close();
  await source.close();
  await expect.poll(() => server.watchers).toBe(0);
  const other = await followKube([server.url], {}, new GlobalStore());
  await other.source.close();
});
