import { expect, onTestFinished, test } from "vitest";
import { parseKind } from "../core/model/parse.ts";
import { GlobalStore } from "../core/store/global-store.ts";
import { type DelegateSettings, Delegates } from "./delegates.ts";
import { createLocalAnnouncer } from "./local-announcer.ts";

const GROUP: DelegateSettings = {
  kind: "smart-group-delegate",
  name: "d0",
  service: "default/shop",
  servicePort: "",
  zone: "z0",
  serverGroup: "default/g0",
};
const NODE: DelegateSettings = {
  kind: "smart-node-delegate",
  name: "n0",
  service: "default/shop",
  servicePort: "",
  zone: "z0",
  address: "10.0.0.1",
  nic: "",
  family: "v4",
  port: 80,
  weight: 5,
  checkAddress: "",
  timeoutMs: 1000,
  periodMs: 10,
  up: 1,
  down: 1,
};

function open(openFails = false) {
  const left: string[] = [];
  const store = new GlobalStore();
  store.transact("control", (transaction) => transaction.set(parseKind("Group", { name: "g0" })));
  const world = { random: () => 0, sleep: (_: number, signal: AbortSignal) => untilEnd(signal) };
  let changes = 0;
  const delegates = new Delegates({
    ...world,
    store,
    node: "n1",
    addressOf: () => undefined,
    check: async () => "",
    onChange: () => {
      changes += 1;
    },
    openAnnouncer: async () => {
      if (openFails) throw new Error("no store");
      const announcer = createLocalAnnouncer(store, world);
      return { ...announcer, leave: () => void left.push(announcer.where) };
    },
  });
  onTestFinished(() => delegates.closeAll());
  const serversOf = (group: string) =>
    (store.state().groups.get(group)?.endpoints ?? []).map(({ name }) => name);
  return { delegates, serversOf, left, changes: () => changes };
}

function untilEnd(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}

test("what one announces the other follows, and both are told and counted", async () => {
  const { delegates, serversOf, changes } = open();
  await delegates.add(NODE);
  await delegates.add(GROUP);
  await expect.poll(() => serversOf("default/g0")).toEqual(["shop@10.0.0.1:80"]);
  expect(changes()).toBeGreaterThan(0);
  expect(delegates.list()).toMatchObject([
    { entry: NODE, status: "announced", servers: ["10.0.0.1:80"], to: "this instance" },
    { entry: GROUP, status: "following", servers: ["shop@10.0.0.1:80"], to: "" },
  ]);
  const counted = delegates
    .metrics()
    .map(({ name, samples }) => [name, samples[0]?.labels["delegate"], samples[0]?.value]);
  expect(counted).toEqual([
    ["mesh_group_servers", "d0", 1],
    ["mesh_node_announced", "n0", 1],
  ]);
  await delegates.remove("smart-node-delegate", "n0");
  await expect.poll(() => serversOf("default/g0")).toEqual([]);
});

test("a name is taken once, and what is not there can not be removed", async () => {
  const { delegates } = open();
  await delegates.add(GROUP);
  await expect(delegates.add(GROUP)).rejects.toMatchObject({ code: "ERR_KEY_TAKEN" });
  await expect(delegates.remove("smart-node-delegate", "d0")).rejects.toMatchObject({
    code: "ERR_NOT_FOUND",
  });
});

test("one that can not announce at all is not there", async () => {
  const { delegates } = open(true);
  await expect(delegates.add(NODE)).rejects.toThrow("no store");
  expect(delegates.list()).toEqual([]);
});

test("at the end nothing of them is left", async () => {
  const { delegates, serversOf } = open();
  await delegates.add(NODE);
  await delegates.add(GROUP);
  await expect.poll(() => serversOf("default/g0")).toHaveLength(1);
  await delegates.closeAll();
  expect([serversOf("default/g0"), serversOf("default/shop")]).toEqual([[], []]);
});

test("what they announce can be left to another process, where they announce anything", async () => {
  const { delegates, left } = open();
  await delegates.add(GROUP);
  await delegates.leave();
  expect(left).toEqual([]);
  await delegates.add(NODE);
  await delegates.leave();
  expect(left).toEqual(["this instance"]);
});
