import { once } from "node:events";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { DelegateEntry } from "../../control/world.ts";
import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import { parseKind } from "../../core/model/parse.ts";
import { StatusBoard } from "../../core/status/status-board.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { identityFiles } from "../../mesh/identity-files.ts";
import type { InstanceConfig } from "../config.ts";
import { configOf, createFakeDeps, createLog } from "../instance.fixture.ts";
import { WORLD } from "../world.ts";
import { createDelegates } from "./create-delegates.ts";

const [LOOPBACK = "lo"] =
  Object.entries(networkInterfaces()).find(([, all]) =>
    all?.some(({ address }) => address === "127.0.0.1"),
  ) ?? [];
const GROUP: DelegateEntry = {
  kind: "smart-group-delegate",
  name: "d0",
  service: "default/shop",
  servicePort: "",
  zone: "",
  serverGroup: "default/g0",
};

function nodeOf(port: number, more: { readonly nic?: string } = {}): DelegateEntry {
  return {
    kind: "smart-node-delegate",
    name: "n0",
    service: "default/shop",
    servicePort: "",
    zone: "",
    address: more.nic === undefined ? "127.0.0.1" : "",
    nic: "",
    family: "v4",
    port,
    weight: 10,
    checkAddress: "",
    timeoutMs: 1000,
    periodMs: 20,
    up: 1,
    down: 1,
    ...more,
  };
}

async function open(more: Partial<InstanceConfig> = {}) {
  const store = new GlobalStore();
  store.transact("control", (transaction) => transaction.set(parseKind("Group", { name: "g0" })));
  const board = new StatusBoard({ now: () => 0 });
  const { log, lines } = createLog();
  let metrics: () => readonly MetricFamily[] = () => [];
  const delegates = createDelegates(
    store,
    { ...(await configOf({})), ...more },
    {
      deps: createFakeDeps([], { ...WORLD, log }),
      report: () => board.add("server", "mesh"),
      metrics: {
        watchPart: (_kind, _name, read) => {
          metrics = read;
        },
      },
    },
  );
  onTestFinished(() => delegates.closeAll());
  const said = () => board.components().map(({ health, message }) => `${health}: ${message}`);
  return { store, delegates, said, lines, metrics: () => metrics() };
}

async function listen(): Promise<{ readonly port: number; close: () => void }> {
  const server = createServer((socket) => socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = (): void => void server.close();
  onTestFinished(close);
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no port");
  return { port: address.port, close };
}

test("an instance without delegates has nothing to tell", async () => {
  expect((await open()).said()).toEqual([]);
});

test("what is followed and announced is told; a port that does not answer is no failure", async () => {
  const { delegates, said, metrics } = await open();
  const { port, close } = await listen();
  await delegates.add(GROUP);
  expect(said()).toEqual(["ok: 1 groups follow services: 0 servers"]);
  await delegates.add(nodeOf(port));
  const all = "ok: 1 groups follow services: 1 servers; 1 of 1 ports announced";
  await expect.poll(said).toEqual([all]);
  expect(metrics().map(({ samples }) => samples[0]?.value)).toEqual([1, 1]);
  close();
  const less = "ok: 1 groups follow services: 0 servers; 0 of 1 ports announced";
  await expect.poll(said).toEqual([less]);
  await delegates.remove("smart-group-delegate", "d0");
  await delegates.remove("smart-node-delegate", "n0");
  expect(said()).toEqual(["ok: no delegates"]);
});

test("a group that is gone, and a place that another has, are told", async () => {
  const { store, delegates, said } = await open();
  const { port } = await listen();
  await delegates.add(GROUP);
  store.transact("control", (transaction) => transaction.delete("Group", "default/g0"));
  const gone = "degraded: smart-group-delegate d0: server-group default/g0 is not there";
  await expect.poll(said).toEqual([gone]);
  await delegates.remove("smart-group-delegate", "d0");
  const name = `127.0.0.1:${port}`;
  const taken = parseKind("Endpoint", { name, group: "shop", addresses: ["10.9.9.9"] });
  store.transact("control", (transaction) => transaction.set(taken));
  await delegates.add(nodeOf(port));
  await expect
    .poll(said)
    .toEqual([expect.stringMatching(/^degraded: smart-node-delegate n0: .*control/)]);
});

test("the address of a network interface is that of the machine; of one that is not there, none", async () => {
  const { delegates, store } = await open();
  const { port } = await listen();
  await delegates.add(nodeOf(port, { nic: LOOPBACK }));
  const names = () =>
    store
      .state()
      .groups.get("default/shop")
      ?.endpoints.map(({ name }) => name);
  await expect.poll(names).toEqual([`127.0.0.1:${port}`]);
  await delegates.remove("smart-node-delegate", "n0");
  await delegates.add(nodeOf(port, { nic: "nosuch0" }));
  await expect
    .poll(() => delegates.list()[0]?.problem)
    .toBe("network interface nosuch0 has no address of IPv4");
});

test("one that can not be made again is told, and keeps nobody from starting", async () => {
  const { delegates, lines } = await open();
  delegates.restore(GROUP);
  delegates.restore(GROUP);
  await expect
    .poll(() => lines.map(({ level, message }) => `${level}: ${message}`))
    .toEqual(["warn: could not be made again: smart-group-delegate d0 is there already"]);
  expect(delegates.list()).toHaveLength(1);
});

test("an identity is a certificate of the mesh, by the name identity", async () => {
  const files = identityFiles("/state/identity");
  const manager = { kind: "tcp", host: "127.0.0.1", port: 1 } as const;
  const { store } = await open({
    identity: { manager, service: "default/shop", tokenFile: "/token", files },
  });
  expect([...store.objects("Certificate")]).toMatchObject([
    { name: "identity", keyFile: join(files.folder, "identity-key.pem"), caFile: files.caFile },
  ]);
  expect(store.ownerOf("Certificate", "default/identity")).toBe("mesh");
});
