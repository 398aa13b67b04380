import { expect, test, vi } from "vitest";
import {
  sampleEndpoint,
  sampleListener,
  samplePort,
  sampleService,
} from "../../../test/support/samples.ts";
import { type Commit, GlobalStore } from "./global-store.ts";

const web = sampleService({ name: "web", clusterIPs: ["10.0.0.1"] });
const shop = sampleService({ name: "shop", clusterIPs: ["10.0.0.2"] });

function summary(commit: Commit): string[] {
  return commit.changes.map((change) => `${change.action} ${change.kind} ${change.key}`);
}

test("an error of a listener comes after all were told, and refuses nothing", async () => {
  const store = new GlobalStore();
  const told: number[] = [];
  const thrown = new Promise((resolve) => process.once("uncaughtException", resolve));
  store.onCommit(() => {
    throw new Error("of a listener");
  });
  store.onCommit(({ revision }) => told.push(revision));
  expect(store.transact("file", (tx) => tx.set(web)).revision).toBe(1);
  expect(told).toEqual([1]);
  expect(await thrown).toMatchObject({ message: "of a listener" });
});

test("a function that is async is refused: what it says after a wait would be lost", () => {
  const store = new GlobalStore();
  const late = async () => undefined;
  expect(() => store.transact("file", late)).toThrow(
    expect.objectContaining({ code: "ERR_USAGE" }),
  );
  expect(store.revision).toBe(0);
});

test("a transaction has one revision, and one that changes nothing has none", () => {
  const store = new GlobalStore();
  const first = store.transact("file", (tx) => {
    tx.set(web);
    tx.set(shop);
  });
  expect(first.revision).toBe(1);
  expect(summary(first)).toEqual(["create Service default/web", "create Service default/shop"]);
  const again = store.transact("file", (tx) => tx.set({ ...web, labels: {} }));
  expect(again).toMatchObject({ revision: 1, changes: [] });
  const update = store.transact("file", (tx) => tx.set({ ...web, affinitySeconds: 10 }));
  expect(summary(update)).toEqual(["update Service default/web"]);
  expect(update.revision).toBe(2);
});

test("replaceAll leaves an owner just what is given, and others untouched", () => {
  const store = new GlobalStore();
  store.transact("kube", (tx) => tx.set(shop));
  store.transact("file", (tx) => tx.replaceAll([web, sampleService({ name: "old" })]));
  const commit = store.transact("file", (tx) => tx.replaceAll([web]));
  expect(summary(commit)).toEqual(["delete Service default/old"]);
  expect([...store.state().services.keys()].sort()).toEqual(["default/shop", "default/web"]);
});

test("a key that another owner has is refused by name, and nothing of the transaction happens", () => {
  const store = new GlobalStore();
  store.transact("kube", (tx) => tx.set(web));
  const clash = () =>
    store.transact("file", (tx) => {
      tx.set(shop);
      tx.set({ ...web, clusterIPs: ["10.0.0.9"] });
    });
  expect(clash).toThrow(
    "Service default/web of file claims Service default/web, which Service default/web of kube holds",
  );
  expect(clash).toThrow(expect.objectContaining({ code: "ERR_KEY_TAKEN" }));
  expect(store.revision).toBe(1);
  expect(store.get("Service", "default/shop")).toBeUndefined();
  expect(store.get("Service", "default/web")?.clusterIPs).toEqual(["10.0.0.1"]);
});

test("an endpoint of another owner is refused too", () => {
  const store = new GlobalStore();
  const endpoint = sampleEndpoint({ group: "web", addresses: ["10.1.0.1"] });
  store.transact("kube", (tx) => tx.set(endpoint));
  expect(() => store.transact("file", (tx) => tx.set({ ...endpoint, weight: 2 }))).toThrow(
    expect.objectContaining({ code: "ERR_KEY_TAKEN" }),
  );
});

test("deleting what another owner has, or nobody, does nothing", () => {
  const store = new GlobalStore();
  store.transact("kube", (tx) => tx.set(web));
  const commit = store.transact("file", (tx) => {
    tx.delete("Service", "default/web");
    tx.delete("Endpoint", "default/web/none");
  });
  expect(commit.changes).toEqual([]);
  expect(store.get("Service", "default/web")).toEqual(web);
});

test.each([
  ["cluster IP 10.0.0.1", { clusterIPs: ["10.0.0.1"] }, { clusterIPs: ["10.0.0.1"] }],
  ["address 192.0.2.1:80/TCP", { externalIPs: ["192.0.2.1"] }, { loadBalancerIPs: ["192.0.2.1"] }],
  [
    "address [2001:db8::1]:80/TCP",
    { externalIPs: ["2001:db8::1"] },
    { externalIPs: ["2001:db8::1"] },
  ],
  [
    "node port 30080/TCP",
    { ports: [samplePort({ nodePort: 30080 })] },
    { ports: [samplePort({ nodePort: 30080 })] },
  ],
  ["node port 30081/TCP", { healthCheckNodePort: 30081 }, { healthCheckNodePort: 30081 }],
  [
    "edge IP 10.30.0.1",
    { edgeIPs: [{ address: "10.30.0.1", policy: "closest", instance: -1 } as const] },
    { edgeIPs: [{ address: "10.30.0.1", policy: "round-robin", instance: -1 } as const] },
  ],
])("two services can not both have %s", (what, first, second) => {
  const store = new GlobalStore();
  store.transact("kube", (tx) => tx.set(sampleService({ name: "a", ...first })));
  expect(() =>
    store.transact("file", (tx) => tx.set(sampleService({ name: "b", ...second }))),
  ).toThrow(`Service default/b of file claims ${what}, which Service default/a of kube holds`);
});

test("one address may be shared by services on different ports and protocols", () => {
  const store = new GlobalStore();
  const ports = [
    samplePort({ port: 80 }),
    samplePort({ port: 81 }),
    samplePort({ protocol: "UDP" }),
  ];
  store.transact("file", (tx) => {
    ports.forEach((port, index) => {
      tx.set(sampleService({ name: `s${index}`, externalIPs: ["192.0.2.1"], ports: [port] }));
    });
  });
  expect(store.state().services.size).toBe(3);
});

test("an address that one service gives up in a transaction can be taken by another in it", () => {
  const store = new GlobalStore();
  store.transact("file", (tx) => tx.set(web));
  store.transact("file", (tx) => {
    tx.set({ ...shop, clusterIPs: ["10.0.0.1"] });
    tx.set({ ...web, clusterIPs: ["10.0.0.3"] });
  });
  store.transact("file", (tx) => tx.delete("Service", "default/shop"));
  store.transact("file", (tx) => tx.set(sampleService({ name: "x", clusterIPs: ["10.0.0.1"] })));
  expect(store.state().services.size).toBe(2);
});

test("two listeners can not have one address, but each node can have its own", () => {
  const store = new GlobalStore();
  const listener = sampleListener({ name: "a", service: "default/web" });
  store.transact("file", (tx) => {
    tx.set({ ...listener, node: "one" });
    tx.set({ ...listener, name: "b", node: "two" });
  });
  expect(() =>
    store.transact("control", (tx) => tx.set({ ...listener, name: "c", node: "two" })),
  ).toThrow("claims listen address 127.0.0.1:8080/TCP on node two");
});

test("a listener for every node and one for a single node can not have one address", () => {
  const listener = sampleListener({ name: "a", service: "default/web" });
  const here = { ...listener, name: "b", node: "one" };
  const first = new GlobalStore();
  first.transact("file", (tx) => tx.set(listener));
  expect(() => first.transact("control", (tx) => tx.set(here))).toThrow(
    "claims listen address 127.0.0.1:8080/TCP, which Listener default/a of file holds",
  );
  const second = new GlobalStore();
  second.transact("file", (tx) => tx.set(here));
  expect(() => second.transact("control", (tx) => tx.set(listener))).toThrow(
    "claims listen address 127.0.0.1:8080/TCP, which Listener default/b of file holds",
  );
  second.transact("file", (tx) => tx.delete("Listener", "default/b"));
  second.transact("control", (tx) => tx.set(listener));
});

test("a listener for DNS takes its port for TCP, too", () => {
  const listener = sampleListener({ name: "a", service: "default/web" });
  const store = new GlobalStore();
  store.transact("file", (tx) => tx.set(listener));
  const dns = { ...listener, name: "b", mode: "dns" } as const;
  expect(() => store.transact("control", (tx) => tx.set(dns))).toThrow(
    "claims listen address 127.0.0.1:8080/TCP, which Listener default/a of file holds",
  );
});

test("a cluster IP can not be an external IP of another service, on any port", () => {
  const outer = sampleService({
    name: "b",
    externalIPs: ["10.0.0.1"],
    ports: [samplePort({ port: 81 })],
  });
  const store = new GlobalStore();
  store.transact("kube", (tx) => tx.set(web));
  expect(() => store.transact("file", (tx) => tx.set(outer))).toThrow(
    "Service default/b of file claims address 10.0.0.1, which Service default/web of kube holds",
  );
  store.transact("kube", (tx) => tx.delete("Service", "default/web"));
  store.transact("file", (tx) => tx.set(outer));
  expect(() => store.transact("kube", (tx) => tx.set(web))).toThrow("claims cluster IP 10.0.0.1");
});

test("in an order of owners the first wins, and the other's object waits until it is free", () => {
  const store = new GlobalStore({ ownerOrder: ["file", "kube"] });
  store.transact("kube", (tx) => tx.set(shop));
  store.transact("kube", (tx) => tx.set({ ...web, affinitySeconds: 1 }));
  const taken = store.transact("file", (tx) => tx.set(web));
  expect(summary(taken)).toEqual(["update Service default/web"]);
  expect(store.ownerOf("Service", "default/web")).toBe("file");
  expect(store.conflicts()).toEqual([
    {
      owner: "kube",
      kind: "Service",
      key: "default/web",
      what: "Service default/web",
      heldBy: "Service default/web of file",
    },
  ]);
  store.transact("kube", (tx) => tx.set({ ...web, affinitySeconds: 2 }));
  expect(store.get("Service", "default/web")?.affinitySeconds).toBe(0);
  const freed = store.transact("file", (tx) => tx.delete("Service", "default/web"));
  expect(summary(freed)).toEqual(["update Service default/web"]);
  expect(store.get("Service", "default/web")?.affinitySeconds).toBe(2);
  expect(store.conflicts()).toEqual([]);
});

test("in an order of owners an address goes to the first, too", () => {
  const store = new GlobalStore({ ownerOrder: ["file", "kube"] });
  store.transact("file", (tx) => tx.set(web));
  store.transact("kube", (tx) => tx.set({ ...shop, clusterIPs: ["10.0.0.1"] }));
  expect(store.get("Service", "default/shop")).toBeUndefined();
  expect(store.conflicts()).toMatchObject([{ owner: "kube", what: "cluster IP 10.0.0.1" }]);
  store.transact("kube", (tx) => tx.replaceAll([]));
  expect(store.conflicts()).toEqual([]);
  store.transact("kube", (tx) => tx.set({ ...shop, clusterIPs: ["10.0.0.1"] }));
  store.transact("file", (tx) => tx.set({ ...web, clusterIPs: ["10.0.0.7"] }));
  expect(store.get("Service", "default/shop")?.clusterIPs).toEqual(["10.0.0.1"]);
});

test("an endpoint without its service is kept, and used when the service comes", () => {
  const store = new GlobalStore();
  const endpoint = sampleEndpoint({ group: "web", addresses: ["10.1.0.1"] });
  store.transact("file", (tx) => tx.set(endpoint));
  expect(store.state().services.size).toBe(0);
  store.transact("file", (tx) => tx.set(web));
  const [group] = store.state().services.get("default/web")?.groups ?? [];
  expect(group?.state.endpoints).toEqual([endpoint]);
});

test("a service reads the groups it names, and changes with each of them", () => {
  const store = new GlobalStore();
  const ref = (group: string, weight: number) => ({
    group,
    weight,
    hints: { host: "", port: 0, path: "" },
  });
  store.transact("file", (tx) => {
    tx.set({ ...web, groups: [ref("default/blue", 3), ref("default/green", 1)] });
    tx.set(sampleEndpoint({ group: "blue", addresses: ["10.1.0.1"] }));
  });
  const before = store.state().services.get("default/web");
  store.transact("file", (tx) =>
    tx.set(sampleEndpoint({ group: "green", addresses: ["10.1.0.2"] })),
  );
  const after = store.state().services.get("default/web");
  expect(before?.groups.map((group) => group.state.endpoints.length)).toEqual([1, 0]);
  expect(after?.groups.map((group) => group.state.endpoints.length)).toEqual([1, 1]);
});

test("endpoints of a group ascend by name, however they come and go", () => {
  const store = new GlobalStore();
  const endpoint = (name: string) =>
    sampleEndpoint({ group: "web", name, addresses: ["10.1.0.1"] });
  const names = () =>
    store
      .state()
      .groups.get("default/web")
      ?.endpoints.map((each) => each.name);
  store.transact("file", (tx) => ["d", "b"].forEach((name) => void tx.set(endpoint(name))));
  store.transact("file", (tx) => tx.set(endpoint("c")));
  expect(names()).toEqual(["b", "c", "d"]);
  store.transact("file", (tx) => [..."zyxwvutsra"].forEach((name) => void tx.set(endpoint(name))));
  expect(names()?.join("")).toBe("abcdrstuvwxyz");
  store.transact("file", (tx) =>
    [..."tuvwxyzabs"].forEach((name) => void tx.delete("Endpoint", `default/web/${name}`)),
  );
  expect(names()?.join("")).toBe("cdr");
  store.transact("file", (tx) => tx.replaceAll([]));
  expect(names()).toBeUndefined();
});

test("synced is known per source and kind, also with nothing in it", () => {
  const store = new GlobalStore();
  expect(store.isSynced()).toBe(true);
  store.register("kube");
  store.register("file");
  store.markSynced("file");
  store.markSynced("kube", ["Service", "Node"]);
  expect(store.isSynced()).toBe(false);
  expect(store.unsynced().get("kube")).not.toContain("Service");
  expect(store.unsynced().get("kube")).toContain("Endpoint");
  store.markSynced("kube");
  store.register("kube");
  expect(store.isSynced()).toBe(true);
});

test("listeners hear of each commit that changed something, until they leave", () => {
  const store = new GlobalStore();
  const heard = vi.fn();
  const leave = store.onCommit(heard);
  store.transact("file", (tx) => tx.set(web));
  store.transact("file", (tx) => tx.set(web));
  leave();
  store.transact("file", (tx) => tx.set(shop));
  expect(heard).toHaveBeenCalledTimes(1);
  expect(heard.mock.calls[0]?.[0]).toMatchObject({ owner: "file", revision: 1 });
});

test("waiting for a change ends with it, or with the signal", async () => {
  const store = new GlobalStore();
  const change = store.changed();
  store.transact("file", (tx) => tx.set(web));
  await change;
  const controller = new AbortController();
  const aborted = store.changed(controller.signal);
  controller.abort();
  await expect(aborted).rejects.toMatchObject({ code: "ERR_ABORTED" });
});
