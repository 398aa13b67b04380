import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Log } from "../../core/log.ts";
import { type Listener, listenerSchema } from "../../core/model/listener.ts";
import { keyOf } from "../../core/model/object.ts";
import { SYNC } from "../../core/view/ops.ts";
import type { Engine, EngineOptions } from "../../proxy/engine.ts";
import { EMPTY_ENGINE_CONFIG, type EngineConfig } from "../../proxy/engine-config.ts";
import type { EngineStats } from "../../proxy/engine-stats.ts";
import { loadBackend } from "../registry.ts";
import { type OpenRedirectOptions, Redirect } from "./redirect/redirect.ts";
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
  stayAwake: "auto",
  drainTimeout: 1234,
  nodeportAddresses: "primary",
  takeOver: false,
  redirect: false,
  redirectPort: 26_000,
  kcpSecretFile: undefined,
  kcpFast: 4,
  provider: "auto",
} as const;
const NO_STATS: EngineStats = { loops: [], listeners: [], groups: [] };
const NO_LOOPS: Engine["loops"] = {
  groups: () => [],
  add: async () => "",
  remove: async () => undefined,
  retire: async () => ({ ended: Promise.resolve() }),
  addGroup: async () => undefined,
  removeGroup: async () => undefined,
  retireGroup: async () => ({ ended: Promise.resolve() }),
  list: async () => [],
  profile: async () => "",
};

/** An engine that notes what it is told. */
function createWorld(more: Partial<Engine> = {}) {
  const started: EngineOptions[] = [];
  const applied: EngineConfig[] = [];
  const calls: string[] = [];
  const engine: Engine = {
    apply: async (config) => void applied.push(config),
    stats: () => NO_STATS,
    unmet: () => [],
    loops: NO_LOOPS,
    channels: { list: async () => [], close: async () => false },
    names: { list: async () => [], forget: async () => false },
    healthOf: () => ({ health: "starting", reason: "" }),
    listenerCounts: () => undefined,
    serverCounts: () => undefined,
    onHealth: () => () => undefined,
    sockets: () => new Map(),
    release: async () => void calls.push("release"),
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
  const others = { loops: 1, provider: "node", stayAwake: "off" } as const;
  await createUserspaceBackend({ ...OPTIONS, ...others }, CONTEXT, world);
  expect(started).toMatchObject([
    { loops: 3, provider: "posix", drainTimeoutMs: 1234, alwaysSleeps: false },
    { loops: 1, provider: "node", alwaysSleeps: true },
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
  expect(applied).toEqual([EMPTY_ENGINE_CONFIG, EMPTY_ENGINE_CONFIG]);
  expect(backend.status()).toEqual({
    summary: "0 listeners, 0 servers",
    notHonoured: [],
    unserved: [],
  });
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
  set({ ...listener(82), address: "192.0.2.82" });
  await backend.sink.send(SYNC);
  backend.sink.send({ op: "delete", set: "listeners", path: "default/on-81" });
  set(listener(83));
  await backend.sink.send(SYNC);
  expect(lines).toEqual([
    "its service does not exist: Listener default/on-81 (Service default/none)",
    "its address is none of this machine: Listener default/on-82",
    "serving 127.0.0.1:81",
    "its service does not exist: Listener default/on-83 (Service default/none)",
    "serving 127.0.0.1:83",
    "no longer serving 127.0.0.1:81",
  ]);
});

test("after a sync that failed the next one tells what is served", async () => {
  const lines: string[] = [];
  const log = { ...LOG, info: (_: object, message: string) => void lines.push(message) };
  let isTaken = true;
  const { world } = createWorld({
    apply: async () => {
      if (isTaken) throw new Error("in use");
    },
  });
  const backend = await createUserspaceBackend(OPTIONS, { ...CONTEXT, log }, world);
  const value = listenerSchema.parse({
    ...{ kind: "Listener", name: "web", service: "default/none" },
    ...{ address: "127.0.0.1", port: 81 },
  });
  backend.sink.send({ op: "set", set: "listeners", path: keyOf(value), value });
  await expect(backend.sink.send(SYNC)).rejects.toThrow("in use");
  expect(lines).toEqual([]);
  isTaken = false;
  await backend.sink.send(SYNC);
  expect(lines).toEqual(["serving 127.0.0.1:81"]);
});

test("a listener whose file comes back is told without a sync", async () => {
  const folder = await mkdtemp(join(tmpdir(), "portolan-back-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const usersFile = join(folder, "users");
  const { world, applied } = createWorld();
  const onStatus = vi.fn();
  const backend = await createUserspaceBackend(OPTIONS, { ...CONTEXT, onStatus }, world);
  onTestFinished(() => backend.close());
  const value = listenerSchema.parse({
    kind: "Listener",
    name: "proxy",
    mode: "socks5",
    address: "127.0.0.1",
    port: 1080,
    service: "default/none",
    usersFile,
  });
  backend.sink.send({ op: "set", set: "listeners", path: keyOf(value), value });
  await backend.sink.send(SYNC);
  const unserved = () => backend.status().unserved?.map(({ listener }) => listener);
  expect([unserved(), onStatus.mock.calls.length]).toEqual([["default/proxy"], 0]);
  await writeFile(usersFile, "somebody:secret\n", { mode: 0o600 });
  await vi.waitFor(() => expect(onStatus).toHaveBeenCalled(), { timeout: 10_000 });
  expect(unserved()).toEqual([]);
  expect(applied.at(-1)?.listeners).toHaveLength(1);
});

test("drains and closes the engine", async () => {
  const { world, calls } = createWorld();
  const backend = await createUserspaceBackend(OPTIONS, CONTEXT, world);
  await backend.cleanup();
  await backend.drain();
  await backend.close();
  expect(calls).toEqual(["drain", "close"]);
});

describe("with --redirect", () => {
  const options = { ...OPTIONS, redirect: true };

  /** A world whose redirect notes what it is told, beside what the engine is. */
  function createRedirectWorld() {
    const calls: string[] = [];
    const wanted: boolean[] = [];
    const note = (what: string) => async () => void calls.push(what);
    const engine = { apply: note("engine"), drain: note("drain"), close: note("close") };
    const { world } = createWorld({ ...engine, release: note("release") });
    const openRedirect = ({ takesOver }: OpenRedirectOptions) => {
      wanted.push(takesOver);
      return new Redirect({
        rules: { apply: note("lead"), check: note("check"), remove: note("remove") },
        lock: { isHeld: () => true, release: () => undefined },
        every: () => ({ stop: () => undefined }),
        release: () => void calls.push("let go"),
        log: LOG,
      });
    };
    return { world: { ...world, openRedirect }, calls, wanted };
  }

  test("calls are led when somebody answers there, and no more before the engine goes", async () => {
    const { world, calls } = createRedirectWorld();
    const backend = await createUserspaceBackend(options, CONTEXT, world);
    await backend.sink.send(SYNC);
    await backend.drain();
    await backend.close();
    expect(calls).toEqual(["engine", "lead", "remove", "drain", "remove", "let go", "close"]);
  });

  test("a successor keeps the rules", async () => {
    const { world, calls } = createRedirectWorld();
    const backend = await createUserspaceBackend(options, CONTEXT, world);
    await backend.plane?.release();
    await backend.drain();
    await backend.close();
    expect(calls).toEqual(["release", "drain", "let go", "close"]);
  });

  test("what an earlier run left is removed, also without the option", async () => {
    for (const redirect of [true, false]) {
      const { world, calls } = createRedirectWorld();
      const backend = await createUserspaceBackend({ ...options, redirect }, CONTEXT, world);
      await backend.cleanup();
      expect(calls[0]).toBe("remove");
    }
  });

  test("only who takes the place of another goes on beside it, and cleaning up never does", async () => {
    const { world, wanted } = createRedirectWorld();
    await createUserspaceBackend(options, CONTEXT, world);
    await createUserspaceBackend({ ...options, takeOver: true }, CONTEXT, world);
    const cleaner = { ...OPTIONS, takeOver: true };
    await (await createUserspaceBackend(cleaner, CONTEXT, world)).cleanup();
    expect(wanted).toEqual([false, true, false]);
  });

  test("an engine that does not start leaves the rules as they are, and lets go", async () => {
    const { world, calls } = createRedirectWorld();
    const createEngine = () => Promise.reject(new Error("no room"));
    const created = createUserspaceBackend(options, CONTEXT, { ...world, createEngine });
    await expect(created).rejects.toThrow("no room");
    expect(calls).toEqual(["let go"]);
  });

  test("is refused where it can not work, before anything is started", async () => {
    const { world, started } = createWorld();
    const create = (more: object) =>
      createUserspaceBackend({ ...options, ...more }, CONTEXT, world);
    await expect(create({})).rejects.toThrow("--redirect: it needs Linux and root");
    await expect(create({ provider: "node" })).rejects.toThrow("--provider node");
    expect(started).toEqual([]);
  });
});

test("the definition says how long a drain may take, and what is slower elsewhere", async () => {
  const definition = await loadBackend("userspace");
  expect(definition?.drainMs?.(OPTIONS)).toBe(1234);
  expect(await definition?.probe({ os: "linux", isRoot: false })).toEqual([]);
  expect(await definition?.probe({ os: "win32", isRoot: false })).toMatchObject([
    { severity: "degraded" },
  ]);
});
