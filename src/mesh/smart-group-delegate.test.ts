import { expect, onTestFinished, test, vi } from "vitest";
import { parseKind } from "../core/model/parse.ts";
import { GlobalStore } from "../core/store/global-store.ts";
import { SmartGroupDelegate } from "./smart-group-delegate.ts";

const FOLLOWING = { service: "default/shop", servicePort: "", zone: "", serverGroup: "default/g0" };
const GROUP = parseKind("Group", { name: "g0" });

function instance(address: string, ready = true) {
  const ports = [{ port: 80 }];
  return parseKind("Endpoint", {
    name: address,
    group: "shop",
    addresses: [address],
    ports,
    ready,
  });
}

function startFollowing(store: GlobalStore, more: Partial<typeof FOLLOWING> = {}) {
  let changes = 0;
  const delegate = new SmartGroupDelegate({
    store,
    following: { ...FOLLOWING, ...more },
    onChange: () => {
      changes += 1;
    },
  });
  onTestFinished(() => delegate.close());
  return { delegate, changes: () => changes };
}

function serversOf(store: GlobalStore): readonly string[] {
  return (store.state().groups.get("default/g0")?.endpoints ?? []).map(({ name }) => name);
}

test("a group follows the instances of its service, from any source", async () => {
  const store = new GlobalStore();
  store.transact("control", (transaction) => transaction.set(GROUP));
  const { delegate, changes } = startFollowing(store);
  expect(serversOf(store)).toEqual([]);

  store.transact("kube", (transaction) => transaction.set(instance("10.0.0.1")));
  store.transact("etcd", (transaction) => transaction.set(instance("10.0.0.2")));
  await Promise.resolve();
  expect(serversOf(store)).toEqual(["shop@10.0.0.1:80", "shop@10.0.0.2:80"]);
  expect(delegate.servers).toEqual(serversOf(store));
  expect(store.ownerOf("Endpoint", "default/g0/shop@10.0.0.1:80")).toBe("mesh");
  expect(changes()).toBe(1);

  store.transact("kube", (transaction) => transaction.set(instance("10.0.0.1", false)));
  await Promise.resolve();
  expect(serversOf(store)).toEqual(["shop@10.0.0.2:80"]);

  const { revision } = store;
  store.transact("kube", (transaction) => transaction.set(parseKind("Group", { name: "other" })));
  await Promise.resolve();
  expect(store.revision).toBe(revision + 1);
});

test("what others change costs nothing", async () => {
  const store = new GlobalStore();
  store.transact("control", (transaction) => transaction.set(GROUP));
  store.transact("etcd", (transaction) => transaction.set(instance("10.0.0.1")));
  startFollowing(store);
  await Promise.resolve();
  const writes = vi.spyOn(store, "transactFitting");
  store.transact("etcd", (transaction) => {
    transaction.set(parseKind("Endpoint", { name: "a", group: "other", addresses: ["10.0.0.9"] }));
    transaction.set(parseKind("Node", { name: "n1", zone: "z1" }));
  });
  await Promise.resolve();
  expect(writes).not.toHaveBeenCalled();
  store.transact("etcd", (transaction) => transaction.set(instance("10.0.0.2")));
  await Promise.resolve();
  expect(writes).toHaveBeenCalled();
  expect(serversOf(store)).toHaveLength(2);
});

test("a node that comes into the zone, or leaves it, brings its instances and takes them", async () => {
  const store = new GlobalStore();
  const place = (zone: string) =>
    store.transact("etcd", (transaction) =>
      transaction.set(parseKind("Node", { name: "n1", zone })),
    );
  store.transact("etcd", (transaction) => {
    transaction.set(GROUP);
    transaction.set({ ...instance("10.0.0.1"), node: "n1" });
  });
  startFollowing(store, { zone: "z1" });
  expect(serversOf(store)).toEqual([]);
  for (const [zone, count] of [
    ["z1", 1],
    ["z2", 0],
    ["z1", 1],
  ] as const) {
    place(zone);
    await Promise.resolve();
    expect(serversOf(store)).toHaveLength(count);
  }
});

test("what somebody takes out of the group is put there again", async () => {
  const store = new GlobalStore();
  store.transact("control", (transaction) => transaction.set(GROUP));
  store.transact("etcd", (transaction) => transaction.set(instance("10.0.0.1")));
  startFollowing(store);
  await Promise.resolve();
  const [server] = serversOf(store);
  store.transact("mesh", (transaction) => transaction.delete("Endpoint", `default/g0/${server}`));
  await Promise.resolve();
  expect(serversOf(store)).toEqual(["shop@10.0.0.1:80"]);
});

test("without its group it waits, and says so; when the group goes its servers go", async () => {
  const store = new GlobalStore();
  store.transact("etcd", (transaction) => transaction.set(instance("10.0.0.1")));
  const { delegate } = startFollowing(store);
  expect(delegate).toMatchObject({
    status: "waiting",
    problem: "server-group default/g0 is not there",
  });
  store.transact("control", (transaction) => transaction.set(GROUP));
  await Promise.resolve();
  expect(delegate).toMatchObject({ status: "following", problem: "" });
  expect(serversOf(store)).toHaveLength(1);
  store.transact("control", (transaction) => transaction.delete("Group", "default/g0"));
  await Promise.resolve();
  expect(serversOf(store)).toEqual([]);
});

test("a group that is of the service itself is not followed into, and that is told", async () => {
  const store = new GlobalStore();
  store.transact("control", (transaction) => transaction.set(GROUP));
  store.transact("etcd", (transaction) => transaction.set(instance("10.0.0.1")));
  const { delegate } = startFollowing(store);
  expect(serversOf(store)).toHaveLength(1);
  const service = parseKind("Service", { name: "shop", groups: [{ group: "default/g0" }] });
  store.transact("kube", (transaction) => transaction.set(service));
  await Promise.resolve();
  expect(delegate).toMatchObject({
    status: "waiting",
    problem: expect.stringContaining("expected another one"),
  });
  expect(serversOf(store)).toEqual([]);
});

test("a name that somebody else holds is told, and the others are served", async () => {
  const store = new GlobalStore();
  const held = { name: "shop@10.0.0.1:80", group: "g0", addresses: ["10.9.9.9"] };
  store.transact("control", (transaction) => {
    transaction.set(GROUP);
    transaction.set(parseKind("Endpoint", held));
  });
  store.transact("etcd", (transaction) => {
    transaction.set(instance("10.0.0.1"));
    transaction.set(instance("10.0.0.2"));
  });
  const { delegate } = startFollowing(store);
  expect(delegate.servers).toEqual(["shop@10.0.0.2:80"]);
  expect(delegate.problem).toContain("default/g0/shop@10.0.0.1:80");
  store.transact("control", (transaction) =>
    transaction.delete("Endpoint", "default/g0/shop@10.0.0.1:80"),
  );
  await Promise.resolve();
  expect(delegate).toMatchObject({ problem: "", status: "following" });
  expect(delegate.servers).toHaveLength(2);
});

test("what it put there goes with it, and nothing else", () => {
  const store = new GlobalStore();
  store.transact("control", (transaction) => {
    transaction.set(GROUP);
    transaction.set(parseKind("Endpoint", { name: "own", group: "g0", addresses: ["10.9.9.9"] }));
  });
  store.transact("etcd", (transaction) => transaction.set(instance("10.0.0.1")));
  const { delegate } = startFollowing(store);
  expect(serversOf(store)).toHaveLength(2);
  delegate.close();
  expect(serversOf(store)).toEqual(["own"]);
});
