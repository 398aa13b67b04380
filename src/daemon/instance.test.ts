import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { BackendContext } from "../backends/backend.ts";
import { PRINT } from "../backends/print/definition.ts";
import { CoreError } from "../core/errors.ts";
import { nodeSchema } from "../core/model/node.ts";
import type { ModelObject } from "../core/model/object.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import { type Op, RESET, SYNC } from "../core/view/ops.ts";
import { type InstanceConfig, resolveConfig } from "./config.ts";
import {
  configOf,
  createFakeDeps,
  createLog,
  FakeSource,
  fakeBackend,
  service,
} from "./instance.fixture.ts";
import { startInstance } from "./instance.ts";
import type { InstanceDeps } from "./instance-deps.ts";

const WEB = service("web", "10.0.0.1");
const OTHER = service("other", "10.0.0.2");

test("brings the sources' state to every backend and closes in order", async () => {
  const calls: string[] = [];
  const source = new FakeSource("file:a", [WEB]);
  const config = await configOf({}, [fakeBackend("one", calls), fakeBackend("two", calls)]);
  const instance = await startInstance(config, createFakeDeps([source]));
  await instance.applied;
  expect(calls.filter((call) => call.startsWith("one"))).toEqual([
    "one reset",
    "one set default/web",
    "one sync",
  ]);
  expect(calls.filter((call) => call.startsWith("two"))).toHaveLength(3);
  calls.length = 0;
  await instance.stop();
  expect(source.isClosed).toBe(true);
  expect(calls).toEqual(["two drain", "two close", "one drain", "one close"]);
});

test("nothing is sent before every source is synced", async () => {
  const calls: string[] = [];
  const first = new FakeSource("file:a", [WEB]);
  const second = new FakeSource("file:b", [OTHER]);
  const config = await configOf({ from: ["file:a", "file:b"] }, [fakeBackend("one", calls)]);
  const instance = await startInstance(config, createFakeDeps([first, second]));
  await instance.applied;
  await instance.stop();
  expect(calls.slice(0, 4)).toEqual([
    "one reset",
    "one set default/other",
    "one set default/web",
    "one sync",
  ]);
});

test("what is on this machine is read first, wherever it is named", async () => {
  const { log, lines } = createLog();
  const owners = ["api:127.0.0.1:1", "file:a"];
  const sources = owners.map((owner, index) => new FakeSource(owner, [[OTHER, WEB][index] ?? WEB]));
  const config = await configOf({ from: owners }, []);
  const instance = await startInstance(config, createFakeDeps(sources, { log }));
  await instance.stop();
  const audit = lines.filter((line) => line.message === "state changed");
  expect(audit.map(({ fields }) => fields)).toMatchObject(
    owners.toReversed().map((owner) => ({ audit: { owner } })),
  );
});

test.each([
  ["has backends", [fakeBackend("one", [])], 1],
  ["only serves the state", [], 0],
])(
  "a node that the state does not know is told where an instance %s",
  async (_, backends, told) => {
    const { log, lines } = createLog();
    const other = nodeSchema.parse({ kind: "Node", name: "node-b" });
    const config = await configOf({ to: ["api"] }, backends);
    const deps = createFakeDeps([new FakeSource("file:a", [other])], { log });
    const instance = await startInstance(config, deps);
    await instance.applied;
    await instance.stop();
    const warnings = lines.filter(({ message }) => message.includes("has no such node"));
    expect(warnings).toHaveLength(told);
  },
);

test("an audit line for every commit names owner, revision and what", async () => {
  const { log, lines } = createLog();
  const source = new FakeSource("file:a", [WEB]);
  const instance = await startInstance(await configOf({}, []), createFakeDeps([source], { log }));
  source.write([OTHER]);
  await instance.stop();
  const audit = lines.filter((line) => line.message === "state changed");
  expect(audit.map((line) => line.fields)).toEqual([
    {
      audit: {
        owner: "file:a",
        revision: 1,
        created: 1,
        updated: 0,
        deleted: 0,
        changes: ["create Service default/web"],
        more: 0,
      },
    },
    {
      audit: {
        owner: "file:a",
        revision: 2,
        created: 1,
        updated: 0,
        deleted: 1,
        changes: expect.arrayContaining(["delete Service default/web"]),
        more: 0,
      },
    },
  ]);
});

test("with first-wins the claim that lost is logged; without, the source is refused", async () => {
  const clash = (): FakeSource[] => [
    new FakeSource("file:a", [WEB]),
    new FakeSource("file:b", [service("thief", "10.0.0.1")]),
  ];
  const from = ["file:a", "file:b"];
  const { log, lines } = createLog();
  const ordered = await startInstance(
    await configOf({ from, sourceOrder: "first-wins" }, []),
    createFakeDeps(clash(), { log }),
  );
  await ordered.stop();
  expect(lines.map((line) => line.message)).toContainEqual(
    expect.stringMatching(/^claim lost: Service default\/thief: .*10\.0\.0\.1.*default\/web/),
  );
  const sources = clash();
  await expect(
    startInstance(await configOf({ from }, []), createFakeDeps(sources)),
  ).rejects.toMatchObject({ code: "ERR_ADDRESS_TAKEN" });
  expect(sources.every((source) => source.isClosed)).toBe(true);
});

test("one failing backend does not stop the other, and the first state counts as failed", async () => {
  const calls: string[] = [];
  const bad = fakeBackend("bad", calls, { sink: { send: () => Promise.reject(new Error("no")) } });
  for (const pipe of ["separate", "parallel", "sequence"]) {
    calls.length = 0;
    const config = await configOf({ pipe }, [bad, fakeBackend("good", calls)]);
    const source = new FakeSource("file:a", []);
    const instance = await startInstance(config, createFakeDeps([source]));
    await expect(instance.applied).rejects.toThrow("no");
    await instance.stop();
    expect(calls).toContain("good sync");
  }
});

test("a backend is told that all is well only once the others have applied a state", async () => {
  let finish: () => void = () => undefined;
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const kernel = fakeBackend("kernel", [], {
    sink: { send: (op) => (op.op === "sync" ? slow : undefined) },
  });
  const plain = fakeBackend("asking", []);
  let isHealthy: (() => boolean) | undefined;
  const asking = {
    ...plain,
    definition: {
      ...plain.definition,
      create: async (...args: Parameters<typeof plain.definition.create>) => {
        isHealthy = args[1].health?.isHealthy;
        return plain.definition.create(...args);
      },
    },
  };
  const config = await configOf({}, [kernel, asking]);
  const instance = await startInstance(config, createFakeDeps([new FakeSource("file:a", [WEB])]));
  expect(isHealthy?.()).toBe(false);
  finish();
  await instance.applied;
  expect(isHealthy?.()).toBe(true);
  await instance.stop();
});

test("one that asks while it applies its own first state is not kept waiting by that", async () => {
  const answers: unknown[] = [];
  let health: BackendContext["health"];
  const plain = fakeBackend("asking", [], {
    sink: { send: (op) => void (op.op === "sync" && answers.push(health?.isHealthy())) },
  });
  const create: typeof plain.definition.create = async (options, given) => {
    health = given.health;
    return plain.definition.create(options, given);
  };
  const config = await configOf({}, [{ ...plain, definition: { ...plain.definition, create } }]);
  const instance = await startInstance(config, createFakeDeps([new FakeSource("file:a", [WEB])]));
  await instance.applied;
  await instance.stop();
  expect(answers).toEqual([true]);
});

test("a backend that could not put right what it programmed turns the health bad until it could", async () => {
  let context: BackendContext | undefined;
  const plain = fakeBackend("kernel", []);
  const create: typeof plain.definition.create = async (options, given) => {
    context = given;
    return plain.definition.create(options, given);
  };
  const { log, lines } = createLog();
  const config = await configOf({}, [{ ...plain, definition: { ...plain.definition, create } }]);
  const source = new FakeSource("file:a", [WEB]);
  const instance = await startInstance(config, createFakeDeps([source], { log }));
  await instance.applied;
  expect(context?.health?.isHealthy()).toBe(true);
  context?.onRepair?.(new Error("nft: no memory"));
  expect(context?.health?.isHealthy()).toBe(false);
  expect(JSON.stringify(lines.at(-1))).toContain("could not be put right: nft: no memory");
  context?.onRepair?.(undefined);
  expect(context?.health?.isHealthy()).toBe(true);
  await instance.stop();
});

test("a backend that does not work here is refused with the remedy, and what was opened is closed", async () => {
  const calls: string[] = [];
  const broken = fakeBackend("broken", calls, {
    definition: {
      probe: async () => [{ severity: "missing", what: "nft", remedy: "apt-get install nftables" }],
    },
  });
  const config = await configOf({}, [fakeBackend("one", calls), broken]);
  await expect(startInstance(config, createFakeDeps([]))).rejects.toMatchObject({
    code: "ERR_NOT_POSSIBLE_HERE",
    message: 'the backend "broken" does not work here:\n  nft: apt-get install nftables',
  });
  expect(calls).toEqual(["one drain", "one close"]);
});

test.each([
  ["starts all the same is warned of it", undefined, ["kube-proxy runs here"]],
  ["refuses to start says so once", new CoreError("ERR_NOT_POSSIBLE_HERE", "stop it"), []],
])("of what works badly a backend that %s", async (_, refusal, expected) => {
  const { log, lines } = createLog();
  const able = fakeBackend("one", []).definition;
  const one = fakeBackend("one", [], {
    definition: {
      probe: async () => [
        { severity: "degraded", what: "kube-proxy runs here", remedy: "stop it" },
      ],
      create: async (options, context) => {
        if (refusal !== undefined) throw refusal;
        return able.create(options, context);
      },
    },
  });
  const starting = startInstance(await configOf({}, [one]), createFakeDeps([], { log }));
  if (refusal === undefined) await (await starting).stop();
  else await expect(starting).rejects.toBe(refusal);
  const warnings = lines.filter(({ level }) => level === "warn").map(({ message }) => message);
  expect(warnings).toEqual(expected);
});

test("the API server is attached to the store, and counts as applied once that is synced", async () => {
  const config = await configOf({ to: ["api"] });
  let revision = -1;
  const deps = createFakeDeps([new FakeSource("file:a", [WEB])]);
  const instance = await startInstance(config, {
    ...deps,
    startApi: async (store, context) => {
      store.onCommit((commit) => {
        revision = commit.revision;
      });
      return deps.startApi(store, context);
    },
  });
  await instance.applied;
  await instance.stop();
  expect(revision).toBe(1);
});

test("the API server does not count as applied while a source is read", async () => {
  const source = new FakeSource("file:a", []);
  let store: GlobalStore | undefined;
  source.start = async (given) => {
    store = given;
  };
  const commit = (...objects: readonly ModelObject[]) =>
    store?.transact("file:a", (transaction) => transaction.replaceAll(objects));
  const config = await configOf({ to: ["api"] });
  const instance = await startInstance(config, createFakeDeps([source]));
  let isApplied = false;
  const applied = instance.applied.then(() => {
    isApplied = true;
  });
  commit(WEB);
  await setImmediate();
  expect(isApplied).toBe(false);
  store?.markSynced("file:a");
  await applied;
  await instance.stop();
});

test("from an API alone, operations go straight to the backends", async () => {
  const calls: string[] = [];
  const config = await configOf({ from: ["api:127.0.0.1:1"] }, [fakeBackend("one", calls)]);
  const changes: (readonly Op[])[] = [[RESET, { op: "delete", set: "nodes", path: "x" }, SYNC]];
  const requests: unknown[] = [];
  let isClosed = false;
  const instance = await startInstance(
    config,
    createFakeDeps([], {
      createSource: async () => {
        throw new Error("no source is needed");
      },
      watchApi: async (spec, _config, request, report) => {
        requests.push([spec.owner, request]);
        report.ok("follows");
        return {
          poll: () => changes.shift(),
          next: (signal) => {
            const change = changes.shift();
            if (change !== undefined) return Promise.resolve(change);
            return new Promise((_, reject) => {
              signal.addEventListener("abort", () => reject(signal.reason), { once: true });
            });
          },
          close: () => {
            isClosed = true;
          },
        };
      },
    }),
  );
  await instance.applied;
  await instance.stop();
  expect(requests).toEqual([["api:127.0.0.1:1", { nodeName: "node-a", sets: [] }]]);
  expect(calls.slice(0, 3)).toEqual(["one reset", "one delete x", "one sync"]);
  expect(isClosed).toBe(true);
});

test("a source that fails before the first state fails what --once waits for", async () => {
  const source = new FakeSource("file:a", []);
  source.start = async (_store, report) => {
    report.failed(new CoreError("ERR_API_UNREACHABLE", "nobody there"));
  };
  const instance = await startInstance(await configOf({}), createFakeDeps([source]));
  await expect(instance.applied).rejects.toThrow("nobody there");
  await instance.stop();
});

test("what a backend serves is told by the status at each sync, and by the log at the first alone", async () => {
  const { log, lines } = createLog();
  const source = new FakeSource("file:a", [WEB]);
  let syncs = 0;
  const backend = fakeBackend("one", [], {
    status: () => ({ summary: `${syncs} syncs`, notHonoured: [] }),
    sink: {
      send: (op) => {
        if (op.op === "sync") syncs += 1;
      },
    },
  });
  const instance = await startInstance(
    await configOf({}, [backend]),
    createFakeDeps([source], { log }),
  );
  await instance.applied;
  await instance.stop();
  const told = lines.filter(
    ({ fields }) => "component" in fields && fields.component === "backend one",
  );
  expect(told.map(({ level, message }) => `${level} ${message}`)).toEqual([
    `info ${PRINT.summary}`,
    "debug 1 syncs",
  ]);
});

describe("a pause after failures", () => {
  const forEver = createFakeDeps([]).sleep;

  /** With a backend that fails so often at first, and then no more. */
  async function startFailing(
    times: number,
    sleep: InstanceDeps["sleep"],
    config?: InstanceConfig,
  ) {
    const source = new FakeSource("file:a", [WEB]);
    let syncs = 0;
    const backend = fakeBackend("one", [], {
      sink: {
        send: (op) => {
          if (op.op === "sync" && ++syncs <= times) throw new Error("locked");
        },
      },
    });
    const instance = await startInstance(
      { ...(config ?? (await configOf({}))), backends: [backend] },
      createFakeDeps([source], { sleep }),
    );
    onTestFinished(() => instance.stop());
    return { instance, source, syncs: () => syncs };
  }

  test("is over 3 s later where the state is another one by then", async () => {
    const pauses: number[] = [];
    const { source, syncs } = await startFailing(5, (ms, signal) => {
      pauses.push(ms);
      return ms > 3000 ? forEver(ms, signal) : Promise.resolve();
    });
    await expect.poll(() => pauses).toEqual([250, 500, 1000, 2000, 4000, 3000]);
    await setImmediate();
    expect(syncs()).toBe(5);
    source.write([OTHER]);
    await expect.poll(syncs).toBe(6);
  });

  test("is over at once where a command waits for what it changes", async () => {
    const state = await mkdtemp(join(tmpdir(), "portolan-instance-"));
    onTestFinished(() => rm(state, { recursive: true }));
    const off = { respListen: "off", metricsListen: "off", healthListen: "off" };
    const config = await resolveConfig({
      flags: { from: ["file:a"], state, httpListen: "127.0.0.1:0", ...off },
      environment: {},
      hostName: "host",
      isControlled: true,
    });
    const { instance, syncs } = await startFailing(1, forEver, config);
    await instance.up;
    const [controller] = instance.controllers?.list() ?? [];
    const answer = await fetch(`http://${controller?.address}/api/v1/command`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ command: "add server-group other" }),
    });
    expect(await answer.json()).toMatchObject({ kind: "done", note: "" });
    expect(syncs()).toBe(2);
  });
});
