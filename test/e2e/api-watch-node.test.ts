import { connect, createServer, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { ModelObject } from "../../src/core/model/object.ts";
import type { GlobalStore } from "../../src/core/store/global-store.ts";
import { NodeWatcher } from "../../src/core/view/node-watcher.ts";
import { ALL_SETS, type Op } from "../../src/core/view/ops.ts";
import type { ApiClientOptions } from "../../src/sources/api/api-client.ts";
import { watchNode } from "../../src/sources/api/watch-node.ts";
import {
  sampleEndpoint,
  sampleGroup,
  sampleListener,
  sampleNode,
  sampleService,
} from "../support/samples.ts";
import {
  type Brain,
  clientOptions,
  createReport,
  OWNER,
  portOf,
  startBrain,
  storeOf,
} from "./api-brain.ts";

const REQUEST = { nodeName: "node-a", sets: ALL_SETS };
const nodes = [sampleNode({ name: "node-a", zone: "z1" }), sampleNode({ name: "node-b" })];
const web = sampleService({ name: "web", clusterIPs: ["10.96.0.1"] });
const endpoint = (ip: string, fields = {}) =>
  sampleEndpoint({ group: "web", addresses: [ip], ...fields });

function watch(options: ApiClientOptions) {
  const report = createReport();
  const watcher = watchNode(options, REQUEST, report);
  onTestFinished(() => watcher.close());
  return { watcher, report };
}

function write(store: GlobalStore, ...objects: readonly ModelObject[]): void {
  store.transact(OWNER, (transaction) => {
    for (const object of objects) transaction.set(object);
  });
}

const words = (ops: readonly Op[]) =>
  ops.map((op) => ("path" in op ? `${op.op} ${op.set} ${op.path}` : op.op));

test("the operations over the API are those in process, in all sets", async () => {
  const store = storeOf([
    ...nodes,
    web,
    endpoint("10.0.0.1", {
      node: "node-a",
      zone: "z1",
      weight: 3,
      ready: false,
      terminating: true,
    }),
    endpoint("10.0.0.2", { hints: { zones: ["z1"], nodes: [] }, labels: { a: "b" } }),
    sampleGroup({ name: "web", method: "least-connections" }),
    sampleListener({ name: "web", service: "default/web" }),
  ]);
  const inProcess = new NodeWatcher(store, "node-a", ALL_SETS);
  onTestFinished(() => inProcess.close());
  const { watcher, report } = watch(clientOptions(portOf(await startBrain(store))));
  expect(await watcher.next()).toEqual(inProcess.poll());

  write(store, { ...web, affinitySeconds: 30 }, endpoint("10.0.0.3"));
  store.transact(OWNER, (transaction) => transaction.delete("Endpoint", "default/web/10.0.0.2"));
  const expected = inProcess.poll();
  expect(expected).toBeDefined();
  expect(await watcher.next()).toEqual(expected);
  expect(report.failures).toEqual([]);
});

test("with an interest only those services come, and it may change while an answer is awaited", async () => {
  const db = sampleService({ name: "db", clusterIPs: ["10.96.0.2"] });
  const store = storeOf([...nodes, web, db, endpoint("10.0.0.1")]);
  const brain = await startBrain(store);
  const request = { nodeName: "node-a", sets: [], interest: ["default/web"] };
  const watcher = watchNode(clientOptions(portOf(brain)), request, createReport());
  onTestFinished(() => watcher.close());
  expect(words(await watcher.next())).toEqual([
    "reset",
    "set services default/web",
    "set endpoints default/web/10.0.0.1",
    "sync",
  ]);
  // What is not of interest is no change: the answer that comes is the one to the new interest.
  const next = watcher.next();
  write(store, { ...db, affinitySeconds: 30 });
  watcher.setInterest(["default/web", "default/db"]);
  expect(words(await next)).toEqual(["set services default/db", "sync"]);
  watcher.setInterest(["default/db"]);
  expect(words(await watcher.next())).toEqual([
    "delete endpoints default/web/10.0.0.1",
    "delete services default/web",
    "sync",
  ]);
  expect(brain.server.stats().messagesSent).toBe(4 + 2 + 3);
});

test("an empty cluster gets its sync, and a poll gives what came in the meantime", async () => {
  const store = storeOf([]);
  const { watcher } = watch(clientOptions(portOf(await startBrain(store))));
  expect(words(await watcher.next())).toEqual(["reset", "sync"]);
  expect(watcher.poll()).toBeUndefined();
  write(store, web);
  expect(words(await watcher.next())).toEqual(["set services default/web", "sync"]);
});

test("waiting ends with the signal, and the change that comes later is not lost", async () => {
  const store = storeOf([]);
  const { watcher } = watch(clientOptions(portOf(await startBrain(store))));
  await watcher.next();
  const abort = new AbortController();
  const waiting = watcher.next(abort.signal);
  abort.abort();
  await expect(waiting).rejects.toMatchObject({ code: "ERR_ABORTED" });
  write(store, web);
  expect(words(await watcher.next())).toEqual(["set services default/web", "sync"]);
});

/** Ends a brain and starts another one in its place, with another state. */
async function restart(brain: Brain, store: GlobalStore): Promise<void> {
  const { address } = brain.server;
  await brain.server.close();
  await startBrain(store, { listen: address });
}

test("a new connection tells only what changed, and deletes nothing that still exists", async () => {
  const before = [web, endpoint("10.0.0.1"), endpoint("10.0.0.2"), endpoint("10.0.0.3")];
  const brain = await startBrain(storeOf(before));
  const { watcher, report } = watch(clientOptions(portOf(brain)));
  expect(await watcher.next()).toHaveLength(6);
  const next = watcher.next();
  await restart(
    brain,
    storeOf([web, endpoint("10.0.0.1"), endpoint("10.0.0.2", { weight: 5 }), endpoint("10.0.0.4")]),
  );
  expect(words(await next)).toEqual([
    "set endpoints default/web/10.0.0.2",
    "set endpoints default/web/10.0.0.4",
    "delete endpoints default/web/10.0.0.3",
    "sync",
  ]);
  expect(report.failures[0]).toMatchObject({ code: "ERR_API_UNREACHABLE" });
});

test("a new connection to the same state tells nothing, and is reported as well again", async () => {
  const store = storeOf([web, endpoint("10.0.0.1")]);
  const brain = await startBrain(store);
  const { watcher, report } = watch(clientOptions(portOf(brain)));
  await watcher.next();
  const next = watcher.next();
  const oks = report.oks;
  const another = storeOf([web, endpoint("10.0.0.1")]);
  await restart(brain, another);
  await expect.poll(() => report.oks).toBeGreaterThan(oks);
  write(another, endpoint("10.0.0.2"));
  expect(words(await next)).toEqual(["set endpoints default/web/10.0.0.2", "sync"]);
});

test("waits longer and longer for a server that is not there, up to the limit", async () => {
  const { server } = await startBrain(storeOf([]));
  const { address } = server;
  await server.close();
  const options = clientOptions(address.kind === "tcp" ? address.port : 0, {
    backoff: { firstMs: 100, maxMs: 1000 },
    random: () => 0.5,
  });
  const { watcher, report } = watch(options);
  const next = watcher.next();
  await expect.poll(() => options.waits.length).toBeGreaterThan(5);
  expect(options.waits.slice(0, 6)).toEqual([75, 150, 300, 600, 750, 750]);
  expect(report.failures[0]).toMatchObject({
    code: "ERR_API_UNREACHABLE",
    message: expect.stringContaining("ECONNREFUSED"),
  });
  watcher.close();
  await expect(next).rejects.toMatchObject({ code: "ERR_ABORTED" });
});

test("a message over the limit is refused, and the state stays", async () => {
  const store = storeOf([]);
  const { watcher, report } = watch(
    clientOptions(portOf(await startBrain(store)), { maxMessageBytes: 1000 }),
  );
  await watcher.next();
  const next = watcher.next();
  write(store, { ...web, labels: { long: "x".repeat(1000) } });
  await expect.poll(() => report.failures.length).toBeGreaterThan(0);
  expect(report.failures[0]).toMatchObject({ code: "ERR_API_MESSAGE_TOO_LARGE" });
  write(store, web);
  expect(words(await next)).toEqual(["set services default/web", "sync"]);
});

/** Something that takes connections and says nothing. */
async function startMute(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((socket) => socket.on("error", () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { server, port: typeof address === "object" && address !== null ? address.port : 0 };
}

test("gives up a server that never answers", async () => {
  const { port } = await startMute();
  const { watcher, report } = watch(clientOptions(port, { connectTimeoutMs: 20 }));
  const next = watcher.next();
  await expect.poll(() => report.failures.length).toBeGreaterThan(1);
  expect(report.failures[0]?.message).toMatch(/no answer within 20 ms/);
  watcher.close();
  await expect(next).rejects.toMatchObject({ code: "ERR_ABORTED" });
});

test("the server gives up a client that does not answer keep-alives", async () => {
  const { server } = await startBrain(storeOf([]), {
    keepAlive: { intervalMs: 20, timeoutMs: 20 },
  });
  const port = server.address.kind === "tcp" ? server.address.port : 0;
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined).resume();
  const emptySettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
  socket.write(Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), emptySettings]));
  await new Promise((resolve) => socket.once("close", resolve));
  await expect.poll(() => server.stats().connections).toBe(0);
});

test("a live connection survives keep-alives", async () => {
  const store = storeOf([]);
  const keepAlive = { intervalMs: 5, timeoutMs: 5000 };
  const brain = await startBrain(store, { keepAlive });
  const { watcher, report } = watch(clientOptions(portOf(brain), { keepAlive }));
  await watcher.next();
  for (const ip of ["10.96.0.1", "10.96.0.2", "10.96.0.3"]) {
    write(store, sampleService({ name: `s${ip}`, clusterIPs: [ip] }));
    expect(await watcher.next()).toHaveLength(2);
  }
  expect(report.failures).toEqual([]);
  expect(brain.server.stats()).toMatchObject({ connections: 1, watchers: 1, changesSent: 4 });
});
