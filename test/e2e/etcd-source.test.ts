import { describe, expect, test } from "vitest";
import { GlobalStore } from "../../src/core/store/global-store.ts";
import { storedKey } from "../../src/sources/etcd/stored-object.ts";
import { loadStored, type StoredState } from "../../src/sources/etcd/stored-state.ts";
import { writeStored } from "../../src/sources/etcd/write-stored.ts";
import { startEtcd } from "../support/etcd.ts";
import { requires } from "../support/requires.ts";
import { sampleEndpoint } from "../support/samples.ts";
import { contents, follow, PREFIX, put, service } from "./etcd-followed.ts";

/** What waits for it waits until it is open. */
function createGate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

describe("the etcd source", requires("etcd", "etcdctl"), () => {
  test("is synced with nothing, then follows; a transaction of etcd is one of the store", async () => {
    const etcd = await startEtcd();
    const { store, until, oks } = await follow(etcd);
    await until(() => store.isSynced() && oks.length > 0);
    expect(contents(store).size).toBe(0);
    const commits: number[] = [];
    store.onCommit(({ changes }) => commits.push(changes.length));
    const client = etcd.client();
    await client.transact([], [put(service("a", "10.0.0.1")), put(service("b", "10.0.0.2"))]);
    await until(() => commits.length === 1);
    expect(commits).toEqual([2]);
    await etcd.ctl("del", "--prefix", PREFIX);
    await until(() => contents(store).size === 0);
    expect(commits).toEqual([2, 2]);
  });

  test("a bad object is told, stops no other one, and what it was before stays", async () => {
    const etcd = await startEtcd();
    const client = etcd.client();
    const key = storedKey(PREFIX, "Service", "default/a");
    await client.transact([], [put(service("a", "10.0.0.1"))]);
    await etcd.ctl("put", `${PREFIX}v1/objects/Nonsense/x`, "1");
    const { store, until, refused } = await follow(etcd, { maxObjects: 4 });
    await until(() => store.isSynced());
    expect(refused()).toEqual([
      `${PREFIX}v1/objects/Nonsense/x: no name of an object; expected ${PREFIX}v1/objects/KIND/NAMESPACE/NAME`,
    ]);
    for (const [value, why] of [
      ["{", "Service default/a: the value is not understood"],
      [
        '{"object":{"kind":"Service","name":"b"}}',
        "Service default/a: the value is Service default/b",
      ],
      [
        '{"object":{"kind":"Service","name":"a","ports":7}}',
        "Service default/a: object.ports: 7 is",
      ],
      ["x".repeat(20_000), "Service default/a: 20000 bytes; expected at most 10000"],
    ] as const) {
      await etcd.ctl("put", key, value);
      await until(() => refused()[1]?.startsWith(why) === true);
      expect(contents(store).get("Service a")).toEqual(service("a", "10.0.0.1"));
    }
    await client.transact([], [put(service("b", "10.0.0.2")), put(service("c", "10.0.0.3"))]);
    await until(() => contents(store).has("Service c"));
    await client.transact([], [put(service("d", "10.0.0.4"))]);
    await until(() => refused().some((line) => line.includes("beyond the limit of 4 objects")));
    await client.transact([], [put(service("a", "10.0.0.9"))]);
    await until(() => refused().length === 2);
    expect(contents(store).get("Service a")).toEqual(service("a", "10.0.0.9"));
    await etcd.ctl("del", key);
    await until(() => !contents(store).has("Service a"));
  });

  test("what another source holds is refused by name, and taken when that goes", async () => {
    const etcd = await startEtcd();
    await etcd
      .client()
      .transact([], [put(service("a", "10.0.0.1")), put(service("b", "10.0.0.2"))]);
    const store = new GlobalStore();
    store.transact("file", (tx) => tx.set(service("mine", "10.0.0.1")));
    const { until, refused } = await follow(etcd, {}, store);
    await until(() => store.isSynced() && refused().length > 0);
    expect(refused()).toEqual([
      "Service default/a: cluster IP 10.0.0.1 is held by Service default/mine of file",
    ]);
    expect([...contents(store).keys()].sort()).toEqual(["Service b", "Service mine"]);
    store.transact("file", (tx) => tx.delete("Service", "default/mine"));
    await until(() => contents(store).has("Service a"));
    expect(refused()).toEqual([]);
  });

  test("after a compaction while it was away nothing that exists is deleted in between", async () => {
    const etcd = await startEtcd();
    const client = etcd.client();
    await client.transact(
      [],
      [put(service("stays", "10.0.0.1")), put(service("goes", "10.0.0.2"))],
    );
    const gate = createGate();
    const { source, store, until, failures } = await follow(etcd, { sleep: () => gate.passed });
    await until(() => store.isSynced() && contents(store).size === 2);
    const deleted: string[] = [];
    store.onCommit(({ changes }) =>
      deleted.push(...changes.filter(({ action }) => action === "delete").map(({ key }) => key)),
    );
    const [member] = etcd.members;
    await member?.kill();
    await until(() => failures.length > 0);
    await member?.start();
    const other = etcd.client();
    await other.transact([], [put(service("comes", "10.0.0.3"))]);
    const { header } = await other.transact(
      [],
      [{ op: "delete", key: Buffer.from(storedKey(PREFIX, "Service", "default/goes")) }],
    );
    await etcd.ctl("compact", String(header.revision));
    gate.open();
    await until(() => contents(store).has("Service comes") && contents(store).size === 2);
    expect(deleted).toEqual(["default/goes"]);
    const values = new Map(
      source.metrics?.().map(({ name, samples }) => [name, samples.map(({ value }) => value)]),
    );
    expect(values.get("etcd_revision")).toEqual([header.revision]);
    expect(values.get("etcd_compactions_total")).toEqual([1]);
    expect(values.get("etcd_relists_total")).toEqual([1]);
    expect(source.details?.()).toMatch(
      /^revision \d+, 0 events, .*1 times read anew, .*1 compaction, requests take [\d.]+ ms$/,
    );
  });

  test.each([
    ["one endpoint", 1],
    ["more than can be compared one by one", 100],
  ])("%s is written only where it is as it was read", async (_, count) => {
    const client = (await startEtcd()).client();
    const limits = { maxObjects: 1000, maxObjectBytes: 10_000 };
    const objects = Array.from({ length: count }, (_, index) =>
      sampleEndpoint({ group: "web", addresses: [`10.0.0.${index}`] }),
    );
    const write = (state: StoredState, owner: string) =>
      writeStored(client, PREFIX, state, {
        owner,
        set: objects.map((object) => ({ object, lease: 0n })),
        delete: [],
      });
    const before = await loadStored(client, PREFIX, limits);
    expect(await write(before, "first")).toMatchObject({ isWhole: true });
    expect(await write(before, "second")).toMatchObject({ isWhole: false, done: [] });
    const after = await loadStored(client, PREFIX, limits);
    expect(await write(after, "second")).toMatchObject({ isWhole: true });
  });
});
