import { createServer } from "node:net";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { endpointSchema } from "../../core/model/endpoint.ts";
import { nodeSchema } from "../../core/model/node.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { serviceSchema } from "../../core/model/service.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { NodeWatcher } from "../../core/view/node-watcher.ts";
import { startHealthServer } from "./health-server.ts";
import { createHealthchecksBackend } from "./healthchecks-backend.ts";
import { HEALTHCHECKS_SETS } from "./options.ts";

const NODE = "node-a";

afterEach(() => {
  vi.useRealTimers();
});

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

function web(port: number, fields: object = {}): ModelObject {
  return serviceSchema.parse({
    kind: "Service",
    name: "web",
    type: "LoadBalancer",
    loadBalancerIPs: ["203.0.113.1"],
    externalTrafficPolicy: "Local",
    healthCheckNodePort: port,
    ports: [{ port: 80, targetPort: 8080, nodePort: 30_080 }],
    ...fields,
  });
}

function pod(name: string, fields: object = {}): ModelObject {
  return endpointSchema.parse({
    kind: "Endpoint",
    name,
    group: "web",
    addresses: [`10.1.0.${name}`],
    node: NODE,
    ...fields,
  });
}

const node = (fields: object = {}): ModelObject =>
  nodeSchema.parse({ kind: "Node", name: NODE, addresses: ["127.0.0.1"], ...fields });

async function start(isHealthy: () => boolean = () => true) {
  const warnings: string[] = [];
  const backend = await createHealthchecksBackend(
    { nodeportAddresses: "localhost" },
    {
      nodeName: NODE,
      stdout: process.stdout,
      log: {
        debug: () => undefined,
        info: () => undefined,
        warn: (_, message) => warnings.push(message),
        error: () => undefined,
      },
      health: { isHealthy },
    },
    { startServer: startHealthServer },
  );
  onTestFinished(() => backend.close());
  const store = new GlobalStore();
  store.register("test");
  store.markSynced("test");
  const watcher = new NodeWatcher(store, NODE, HEALTHCHECKS_SETS);
  const sync = async (...objects: readonly ModelObject[]): Promise<void> => {
    store.transact("test", (transaction) => transaction.replaceAll(objects));
    for (const op of watcher.poll() ?? []) {
      if (op.op === "reset") backend.sink.reset();
      else await backend.sink.send(op);
    }
  };
  return { backend, sync, warnings };
}

const ask = (port: number, path = "/"): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`);

test("200 while this node has ready endpoints, 503 without, with kube-proxy's body", async () => {
  const port = await freePort();
  const { sync, backend } = await start();
  await sync(web(port), node(), pod("1"), pod("2"), pod("3", { node: "node-b" }));
  const answer = await ask(port, "/whatever?x=1");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  expect(answer.headers.get("x-load-balancing-endpoint-weight")).toBe("2");
  expect(await answer.json()).toEqual({
    service: { namespace: "default", name: "web" },
    localEndpoints: 2,
    serviceProxyHealthy: true,
  });
  const terminating = { ready: false, terminating: true };
  await sync(web(port), node(), pod("1", terminating), pod("3", { node: "node-b" }));
  const empty = await ask(port);
  expect(empty.status).toBe(503);
  expect(empty.headers.get("x-load-balancing-endpoint-weight")).toBe("0");
  expect(await empty.json()).toMatchObject({ localEndpoints: 0 });
  expect(backend.status().notHonoured).toEqual([]);
});

test("503 while the instance is not healthy", async () => {
  const port = await freePort();
  let isHealthy = true;
  const { sync } = await start(() => isHealthy);
  await sync(web(port), node(), pod("1"));
  expect((await ask(port)).status).toBe(200);
  isHealthy = false;
  const answer = await ask(port);
  expect([answer.status, await answer.json()]).toMatchObject([
    503,
    { localEndpoints: 1, serviceProxyHealthy: false },
  ]);
});

test("a pod with an address in each family counts once", async () => {
  const port = await freePort();
  const { sync } = await start();
  await sync(web(port), node(), pod("1"), pod("2", { addresses: ["fd00::1"] }));
  expect(await (await ask(port)).json()).toMatchObject({ localEndpoints: 1 });
});

test("a port is closed when its service goes, or has none any more", async () => {
  const port = await freePort();
  const { sync, backend } = await start();
  await sync(web(port), node(), pod("1"));
  await sync(web(0), node(), pod("1"));
  await expect(ask(port)).rejects.toThrow();
  expect(backend.status().summary).toBe("0 health-check node ports on 0 sockets");
});

test("a port that is taken is told, keeps no other away, and is tried again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const [taken, free] = [await freePort(), await freePort()];
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(taken, "127.0.0.1", resolve));
  const { sync, backend, warnings } = await start();
  await sync(web(taken), web(free, { name: "other", loadBalancerIPs: [], ports: [] }), node());
  expect((await ask(free)).status).toBe(503);
  expect(backend.status().notHonoured).toEqual([
    expect.stringMatching(/^Service default\/web: health-check node port: can not listen on .*/),
  ]);
  await vi.runOnlyPendingTimersAsync();
  await expect.poll(() => vi.getTimerCount()).toBe(1);
  expect(warnings).toHaveLength(1);
  await new Promise((resolve) => holder.close(resolve));
  await vi.runOnlyPendingTimersAsync();
  await vi.waitFor(() => expect(backend.status().notHonoured).toEqual([]), { timeout: 10_000 });
  expect((await ask(taken)).status).toBe(503);
});
