import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Log } from "../../core/log.ts";
import { type Listener, listenerSchema } from "../../core/model/listener.ts";
import { keyOf } from "../../core/model/object.ts";
import { SYNC } from "../../core/view/ops.ts";
import type { Engine, EngineOptions } from "../../proxy/engine.ts";
import type { EngineConfig } from "../../proxy/engine-config.ts";
import type { EngineStats } from "../../proxy/engine-stats.ts";
import { loadBackend } from "../registry.ts";
import { createUserspaceBackend } from "./userspace-backend.ts";

const LOG: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const CONTEXT = { nodeName: "node-a", log: LOG, stdout: new PassThrough() };
const OPTIONS = {
  loops: undefined,
  drainTimeout: 1234,
  nodeportAddresses: "primary",
  provider: "auto",
} as const;
const NO_STATS: EngineStats = { loops: [], listeners: [], groups: [] };

/** An engine that notes what it is told. */
function createWorld(more: Partial<Engine> = {}) {
  const started: EngineOptions[] = [];
  const applied: EngineConfig[] = [];
  const calls: string[] = [];
  const engine: Engine = {
    apply: async (config) => void applied.push(config),
    stats: () => NO_STATS,
    drain: async () => void calls.push("drain"),
    close: async () => void calls.push("close"),
    ...more,
  };
  const world = {
    createEngine: async (options: EngineOptions) => {
      started.push(options);
      return engine;
    },
    machineAddresses: () => new Set<string>(),
    cores: 3,
  };
  return { world, started, applied, calls };
}

test("starts a loop a core on the fast provider, unless told otherwise", async () => {
  const { world, started } = createWorld();
  await createUserspaceBackend(OPTIONS, CONTEXT, world);
  await createUserspaceBackend({ ...OPTIONS, loops: 1, provider: "node" }, CONTEXT, world);
  expect(started).toMatchObject([
    { loops: 3, provider: "posix", drainTimeoutMs: 1234 },
    { loops: 1, provider: "node" },
  ]);
});

test("refuses addresses for node ports that are none, before anything is started", async () => {
  const { world, started } = createWorld();
  const options = { ...OPTIONS, nodeportAddresses: "10.0.0.0/33" };
  await expect(createUserspaceBackend(options, CONTEXT, world)).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    message: expect.stringMatching(
      /^--nodeport-addresses: "10\.0\.0\.0\/33" is not valid; expected/,
    ),
  });
  expect(started).toEqual([]);
});

test("a sync hands the plan to the engine and is rejected where the engine rejects it", async () => {
  let failure: Error | undefined;
  const applied: EngineConfig[] = [];
  const { world } = createWorld({
    apply: async (config) => {
      applied.push(config);
      if (failure !== undefined) throw failure;
    },
  });
  const backend = await createUserspaceBackend(OPTIONS, CONTEXT, world);
  await backend.sink.send(SYNC);
  failure = new Error("in use");
  await expect(backend.sink.send(SYNC)).rejects.toThrow("in use");
  expect(applied).toEqual([
    { listeners: [], upstreams: [], groups: [] },
    { listeners: [], upstreams: [], groups: [] },
  ]);
  expect(backend.status()).toEqual({ summary: "0 listeners, 0 servers", notHonoured: [] });
});

test("says what it serves from now on, and what it can not, once", async () => {
  const lines: string[] = [];
  const note = (_: object, message: string) => void lines.push(message);
  const log = { ...LOG, info: note, warn: note };
  const { world } = createWorld();
  const backend = await createUserspaceBackend(OPTIONS, { ...CONTEXT, log }, world);
  const listener = (port: number) =>
    listenerSchema.parse({
      kind: "Listener",
      name: `on-${port}`,
      address: "127.0.0.1",
      port,
      service: "default/none",
    });
  const set = (object: Listener) => {
    backend.sink.send({ op: "set", set: "listeners", path: keyOf(object), value: object });
  };
  set(listener(81));
  set({ ...listener(82), mode: "dns" });
  await backend.sink.send(SYNC);
  backend.sink.send({ op: "delete", set: "listeners", path: "default/on-81" });
  set(listener(83));
  await backend.sink.send(SYNC);
  expect(lines).toEqual([
    "mode dns is not there in this version: Listener default/on-82",
    "serving 127.0.0.1:81",
    "serving 127.0.0.1:83",
    "no longer serving 127.0.0.1:81",
  ]);
});

test("drains and closes the engine", async () => {
  const { world, calls } = createWorld();
  const backend = await createUserspaceBackend(OPTIONS, CONTEXT, world);
  await backend.cleanup();
  await backend.drain();
  await backend.close();
  expect(calls).toEqual(["drain", "close"]);
});

test("the definition says how long a drain may take, and what is slower elsewhere", async () => {
  const definition = await loadBackend("userspace");
  expect(definition?.drainMs?.(OPTIONS)).toBe(1234);
  expect(await definition?.probe({ os: "linux", isRoot: false })).toEqual([]);
  expect(await definition?.probe({ os: "win32", isRoot: false })).toMatchObject([
    { severity: "degraded" },
  ]);
});
