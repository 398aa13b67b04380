import { afterEach, expect, onTestFinished, test } from "vitest";
import type { BackendStatus } from "../backends/backend.ts";
import { formatListenAddress, parseListenAddress } from "../core/options/listen-address.ts";
import { StatusBoard } from "../core/status/status-board.ts";
import { GlobalStore } from "../core/store/global-store.ts";
import { type HttpServer, type Routes, startHttpServer } from "./http-server.ts";
import {
  configOf,
  createFakeDeps,
  createLog,
  FakeSource,
  fakeBackend,
  type LogLine,
  service,
} from "./instance.fixture.ts";
import { startInstance } from "./instance.ts";
import { createMetrics } from "./metrics.ts";
import { healthRoutes } from "./routes.ts";

const ANY_PORT = { kind: "tcp", host: "127.0.0.1", port: 0 } as const;

const open: HttpServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function serve(routes: Routes): Promise<string> {
  const server = await startHttpServer(ANY_PORT, routes);
  open.push(server);
  return server.address.kind === "tcp" ? `http://127.0.0.1:${server.address.port}` : "";
}

test("health pages answer 200 or 503 by what they ask", async () => {
  const board = new StatusBoard({ now: () => 0 });
  const source = board.add("source", "file");
  const url = await serve(healthRoutes(board, () => 0));
  const status = async (path: string): Promise<number> => (await fetch(`${url}${path}`)).status;
  expect([await status("/livez"), await status("/healthz"), await status("/readyz")]).toEqual([
    200, 200, 503,
  ]);
  source.ok("");
  expect(await status("/readyz")).toBe(200);
  source.failed("gone");
  expect([await status("/livez"), await status("/healthz"), await status("/readyz")]).toEqual([
    200, 200, 503,
  ]);
  board.add("sync", "print").failed("locked");
  expect([await status("/livez"), await status("/healthz"), await status("/readyz")]).toEqual([
    200, 503, 503,
  ]);
  const body: unknown = await (await fetch(`${url}/healthz?verbose`)).json();
  expect(body).toMatchObject({
    healthy: false,
    reasons: ["source file: failed: gone", "sync print: failed: locked"],
  });
});

test("before its sources are on the board an instance is not ready, whatever else is well", async () => {
  const board = new StatusBoard({ now: () => 0 });
  const url = await serve(healthRoutes(board, () => 0));
  const ready = async () => {
    const response = await fetch(`${url}/readyz`);
    return [response.status, await response.json()];
  };
  const notYet = [503, { ready: false, live: true, reasons: ["the instance still starts"] }];
  expect(await ready()).toMatchObject(notYet);
  board.add("backend", "x").ok("");
  expect(await ready()).toMatchObject(notYet);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const source = board.add("source", "control");
  expect(await ready()).toMatchObject([503, { reasons: ["source control: starting"] }]);
  source.ok("");
  expect(await ready()).toMatchObject([200, { ready: true, reasons: [] }]);
});

test("/healthz has the fields of kube-proxy's, and says where a node is about to go", async () => {
  let nowMs = 1000;
  const board = new StatusBoard({ now: () => nowMs });
  board.add("source", "file").ok("");
  board.add("sync", "nftables").ok("in sync");
  nowMs = 61_000;
  const url = await serve(healthRoutes(board, () => nowMs));
  const family = { lastUpdated: "1970-01-01T00:00:01.000Z", healthy: true };
  expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({
    lastUpdated: "1970-01-01T00:00:01.000Z",
    currentTime: "1970-01-01T00:01:01.000Z",
    nodeEligible: true,
    healthy: true,
    status: { IPv4: family, IPv6: family },
  });
  board.setNodeEligible("node a was deleted");
  const gone = await fetch(`${url}/healthz`);
  expect([gone.status, await gone.json()]).toMatchObject([
    503,
    { healthy: true, nodeEligible: false, reasons: ["node a was deleted"] },
  ]);
  expect((await fetch(`${url}/livez`)).status).toBe(200);
});

test("/healthz tells of several backends when the one that lags was brought up to date", async () => {
  let nowMs = 1000;
  const board = new StatusBoard({ now: () => nowMs });
  const first = board.add("sync", "nftables");
  const second = board.add("sync", "healthchecks");
  const url = await serve(healthRoutes(board, () => nowMs));
  const lastUpdated = async (): Promise<unknown> => (await fetch(`${url}/healthz`)).json();
  const updatedAt = (time: string | undefined) => expect.objectContaining({ lastUpdated: time });
  first.ok("in sync");
  nowMs = 5000;
  second.ok("in sync");
  expect(await lastUpdated()).toEqual(updatedAt("1970-01-01T00:00:01.000Z"));
  nowMs = 9000;
  first.ok("in sync");
  expect(await lastUpdated()).toEqual(updatedAt("1970-01-01T00:00:05.000Z"));
});

test("only GET and HEAD, only known pages, and a page that throws is a 500", async () => {
  const broken = (): never => {
    throw new Error("broken");
  };
  const url = await serve(new Map([["/page", broken]]));
  expect((await fetch(`${url}/page`)).status).toBe(500);
  expect((await fetch(`${url}/page`, { method: "POST" })).status).toBe(405);
  expect((await fetch(`${url}/nope`)).status).toBe(404);
  const head = await fetch(`${url}/nope`, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([404, ""]);
});

test("an address that is taken is named", async () => {
  const url = await serve(new Map());
  const taken = parseListenAddress(new URL(url).host);
  if (taken === undefined) throw new Error("the address was not read back");
  await expect(startHttpServer(taken, new Map())).rejects.toMatchObject({
    code: "ERR_LISTEN",
    message: expect.stringContaining(new URL(url).host),
  });
});

test("metrics follow the store, the sinks and the board", async () => {
  let seconds = 0;
  const board = new StatusBoard({ now: () => 0 });
  board.add("source", "file").ok("");
  const metrics = createMetrics({
    version: "1.2.3",
    board,
    watchers: () => 3,
    nowSeconds: () => ++seconds,
    withProcess: true,
  });
  const store = new GlobalStore();
  metrics.watchStore(store);
  const web = service("web", "10.0.0.1");
  store.transact("file", (tx) => tx.replaceAll([web, service("b", "10.0.0.2")]));
  store.transact("file", (tx) => tx.replaceAll([web]));
  let failures = 1;
  const sink = metrics.meter("print", {
    setup: () => undefined,
    waitRequest: () => ({ nodeName: "a", sets: [] }),
    reset: () => undefined,
    send: (op) => {
      if (op.op === "sync" && failures-- > 0) throw new Error("no");
    },
  });
  sink.send({ op: "delete", set: "services", path: "a/b" });
  sink.send({ op: "delete", set: "services", path: "a/c" });
  await expect(sink.send({ op: "sync" })).rejects.toThrow("no");
  await sink.send({ op: "sync" });
  const lines = (await metrics.text()).split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      'portolan_build_info{version="1.2.3"} 1',
      'portolan_component_ok{kind="source",name="file"} 1',
      "portolan_watchers 3",
      "portolan_store_revision 2",
      'portolan_store_objects{kind="Service"} 1',
      'portolan_store_transactions_total{owner="file"} 2',
      'portolan_ops_total{backend="print",set="services",op="delete"} 2',
      'portolan_sync_failures_total{backend="print"} 1',
      'portolan_sync_duration_seconds_count{backend="print"} 2',
      'portolan_sync_duration_seconds_sum{backend="print"} 2',
    ]),
  );
  expect(
    lines.filter((line) => line.startsWith("# TYPE")).every((line) => / portolan_/.test(line)),
  ).toBe(true);
});

test("what a backend can not honour stands on the health pages, as it is after the last sync", async () => {
  const { log, lines } = createLog();
  let weights = 0;
  const backend = fakeBackend("x", [], {
    sink: {
      send: () => {
        weights += 1;
      },
    },
    status: () => ({ summary: "", notHonoured: [`${weights} weights`] }),
  });
  const source = new FakeSource("file:a", []);
  const deps = createFakeDeps([source], { log });
  const instance = await startInstance(await configOf({ healthListen: "0" }, [backend]), deps);
  await instance.applied;
  const url = urlIn(lines);
  const body: unknown = await (await fetch(`${url}/readyz`)).json();
  expect(body).toMatchObject({ components: [{ name: "x", notHonoured: ["1 weights"] }, {}, {}] });
  await instance.stop();
});

test("a listener that is closed makes it unready, but not unhealthy, until it is open without a sync", async () => {
  const { log, lines } = createLog();
  const reason = "no certificate";
  let status: BackendStatus = {
    summary: "",
    notHonoured: [reason],
    unserved: [
      { listener: "default/elsewhere", reason: "its address is none of this machine" },
      { listener: "default/tls", reason, isClosed: true },
    ],
  };
  const plain = fakeBackend("x", [], { status: () => status });
  let onStatus: (() => void) | undefined;
  const create: typeof plain.definition.create = async (options, context) => {
    onStatus = context.onStatus;
    return plain.definition.create(options, context);
  };
  const backend = { ...plain, definition: { ...plain.definition, create } };
  const deps = createFakeDeps([new FakeSource("file:a", [])], { log });
  const instance = await startInstance(await configOf({ healthListen: "0" }, [backend]), deps);
  onTestFinished(() => instance.stop());
  await instance.applied;
  const read = async (page: string): Promise<readonly [number, unknown]> => {
    const response = await fetch(`${urlIn(lines)}/${page}`);
    return [response.status, await response.json()];
  };
  expect((await read("healthz"))[0]).toBe(200);
  expect(await read("readyz")).toMatchObject([
    503,
    {
      reasons: ["backend x: degraded: Listener default/tls is not served: no certificate"],
      components: [{ name: "x", notHonoured: [reason] }, {}, {}],
    },
  ]);
  status = { summary: "", notHonoured: [], unserved: [] };
  onStatus?.();
  expect(await read("readyz")).toMatchObject([
    200,
    { reasons: [], components: [{ notHonoured: [] }, {}, {}] },
  ]);
});

function urlIn(lines: readonly LogLine[]): string {
  const line = lines.find(({ message }) => message.startsWith("status pages on "));
  return `http://${line?.message.slice("status pages on ".length)}`;
}

test("an instance serves both on one address, until it is stopped", async () => {
  const { log, lines } = createLog();
  const config = await configOf({ metricsListen: "0", healthListen: "0" }, [fakeBackend("x", [])]);
  const deps = createFakeDeps([new FakeSource("file:a", [])], { log });
  const instance = await startInstance(config, deps);
  await instance.applied;
  const url = urlIn(lines);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect(await (await fetch(`${url}/metrics`)).text()).toContain("portolan_store_revision");
  await instance.stop();
  await expect(fetch(`${url}/readyz`)).rejects.toThrow();
});

test("of several addresses that are taken all are named, and what was begun is ended", async () => {
  const hostOf = async (): Promise<string> => new URL(await serve(new Map())).host;
  const [metricsListen, healthListen] = [await hostOf(), await hostOf()];
  const start = async (options: Readonly<Record<string, string>>): Promise<unknown> =>
    startInstance(
      await configOf(options, [fakeBackend("x", [])]),
      createFakeDeps([new FakeSource("file:a", [])]),
    );
  await expect(start({ metricsListen, healthListen })).rejects.toMatchObject({
    code: "ERR_LISTEN",
    message: expect.stringMatching(
      new RegExp(
        `^${metricsListen} for metrics is taken.*--metrics-listen off\\n${healthListen} for health is taken.*--health-listen off$`,
      ),
    ),
  });
  const free = await startHttpServer(ANY_PORT, new Map());
  await free.close();
  const address = formatListenAddress(free.address);
  await expect(start({ metricsListen: address, healthListen })).rejects.toThrow(healthListen);
  open.push(await startHttpServer(free.address, new Map()));
});
