import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { GlobalStore } from "../core/store/global-store.ts";
import { checkPort } from "./check-port.ts";
import { createLocalAnnouncer } from "./local-announcer.ts";
import { type NodeDelegateSettings, SmartNodeDelegate } from "./smart-node-delegate.ts";

const WORLD = {
  random: () => 0,
  sleep: async (ms: number, signal: AbortSignal) => {
    await wait(ms, undefined, { signal });
  },
};

async function listen(port = 0): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  return server;
}

function portOf(server: Server): number {
  const { port } = server.address() as AddressInfo;
  return port;
}

function startDelegate(port: number, more: Partial<NodeDelegateSettings> = {}) {
  const store = new GlobalStore();
  const nics = new Map([["eth0", "127.0.0.1"]]);
  const settings: NodeDelegateSettings = {
    service: "default/shop",
    servicePort: "",
    zone: "z0",
    address: "127.0.0.1",
    nic: "",
    family: "v4",
    port,
    weight: 5,
    checkAddress: "",
    timeoutMs: 1000,
    periodMs: 10,
    up: 1,
    down: 1,
    ...more,
  };
  const delegate = new SmartNodeDelegate(settings, {
    ...WORLD,
    node: "n1",
    announcer: createLocalAnnouncer(store, WORLD),
    addressOf: (nic) => nics.get(nic),
    check: checkPort,
    onChange: () => undefined,
  });
  onTestFinished(() => delegate.close());
  const announced = () => store.state().groups.get("default/shop")?.endpoints ?? [];
  return { store, delegate, announced, nics };
}

test("the first success announces, the first failure withdraws", async () => {
  const server = await listen();
  const port = portOf(server);
  const { delegate, announced } = startDelegate(port);
  await expect.poll(announced).toMatchObject([
    {
      name: `127.0.0.1:${port}`,
      addresses: ["127.0.0.1"],
      ports: [{ name: "", port }],
      zone: "z0",
      node: "n1",
      weight: 5,
    },
  ]);
  expect(delegate).toMatchObject({ status: "announced", announced: [`127.0.0.1:${port}`] });
  server.close();
  await expect.poll(announced).toEqual([]);
  expect(delegate).toMatchObject({ status: "down", announced: [] });
  expect(delegate.problem).toContain("ECONNREFUSED");
  await listen(port);
  await expect.poll(announced).toHaveLength(1);
});

test("what is checked may be another port than what is announced", async () => {
  const server = await listen();
  const { announced } = startDelegate(18080, { checkAddress: `127.0.0.1:${portOf(server)}` });
  await expect.poll(announced).toMatchObject([{ name: "127.0.0.1:18080" }]);
});

test("the address of a network interface is followed", async () => {
  const server = await listen();
  const settings = { address: "", nic: "eth0", checkAddress: `127.0.0.1:${portOf(server)}` };
  const { delegate, announced, nics } = startDelegate(80, settings);
  await expect.poll(announced).toMatchObject([{ name: "127.0.0.1:80" }]);
  nics.set("eth0", "127.0.0.2");
  await expect.poll(announced).toMatchObject([{ name: "127.0.0.2:80" }]);
  nics.delete("eth0");
  await expect.poll(announced).toEqual([]);
  expect(delegate.problem).toBe("network interface eth0 has no address of IPv4");
});

test("a name that another holds is told, and announced when it is free", async () => {
  const server = await listen();
  const port = portOf(server);
  const { store, delegate, announced } = startDelegate(port, { periodMs: 20 });
  await expect.poll(announced).toHaveLength(1);
  const [endpoint] = announced();
  await delegate.close();
  expect(announced()).toEqual([]);
  if (endpoint === undefined) throw new TypeError("nothing was announced");
  store.transact("control", (transaction) => transaction.set(endpoint));
  const announcer = createLocalAnnouncer(store, WORLD);
  const states: string[] = [];
  const end = new AbortController();
  const over = announcer.announce(
    { ...endpoint, service: "default/shop", servicePort: "", address: "127.0.0.1", port },
    ({ isMade, problem }) => states.push(isMade ? "made" : problem),
    end.signal,
  );
  await expect.poll(() => states.length).toBeGreaterThan(0);
  expect(states[0]).toContain("control");
  store.transact("control", (transaction) =>
    transaction.delete("Endpoint", `default/shop/127.0.0.1:${port}`),
  );
  await expect.poll(() => states.at(-1)).toBe("made");
  end.abort();
  await over;
  expect(announced()).toEqual([]);
});
