import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MemoryWorld } from "../../control/control-world.fixture.ts";
import { createControl } from "../../control/create-control.ts";
import { keyOf, type ModelObject } from "../../core/model/object.ts";
import { parseObject } from "../../core/model/parse.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { createLog } from "../instance.fixture.ts";
import { Journal } from "../journal/journal.ts";
import { followEvents } from "./follow-events.ts";
import type { LiveParts } from "./live-parts.ts";
import { LogRing } from "./log-ring.ts";
import { apply, get, watch } from "./state-requests.ts";

const group = (name: string, method = "random"): ModelObject =>
  parseObject({ kind: "Group", name, method });

function liveWith(store: GlobalStore | undefined, isControlled = false): LiveParts {
  return {
    isControlled,
    startedMs: 0,
    metricsText: async () => "",
    ...(store && { store }),
  };
}

test("objects are told with their owners, by kind and key", () => {
  const store = new GlobalStore();
  const node = parseObject({ kind: "Node", name: "n" });
  store.transact("file", (transaction) => transaction.replaceAll([group("b"), group("a"), node]));
  const live = liveWith(store);
  const keysOf = (params: Parameters<typeof get>[1]) =>
    get(live, params).objects.map(({ owner, object }) => `${owner} ${keyOf(object)}`);
  expect(keysOf({})).toEqual(["file default/a", "file default/b", "file n"]);
  expect(keysOf({ kinds: ["Group"], key: "default/b" })).toEqual(["file default/b"]);
});

test("a watch tells what is there, that this was all, and then each change", async () => {
  const store = new GlobalStore();
  store.transact("file", (transaction) => transaction.set(group("a")));
  const ended = new AbortController();
  const seen: string[] = [];
  for await (const item of watch(liveWith(store), { kinds: ["Group"] }, ended.signal)) {
    const what = item.event === "changed" ? `${item.action} ${item.key} of ${item.owner}` : "";
    seen.push(`${item.event} ${item.revision} ${what}`.trim());
    if (item.event === "synced") {
      store.transact("control", (transaction) => transaction.set(group("b")));
      store.transact("file", (transaction) => {
        transaction.set(group("a", "round-robin"));
        transaction.set(parseObject({ kind: "Node", name: "unseen" }));
      });
      store.transact("file", (transaction) => transaction.delete("Group", "default/a"));
    }
    if (seen.length === 5) ended.abort();
  }
  expect(seen).toEqual([
    "present 1",
    "synced 1",
    "changed 2 create default/b of control",
    "changed 3 update default/a of file",
    "changed 4 delete default/a of file",
  ]);
});

test("an instance without commands, or that still starts, says which", async () => {
  const params = { objects: [], prune: false, dryRun: true };
  expect(() => get(liveWith(undefined), {})).toThrow("holds no state of its own");
  expect(() => get(liveWith(undefined, true), {})).toThrow("the instance still starts");
  await expect(apply(liveWith(new GlobalStore()), params)).rejects.toThrow("portolan up");
});

test("what is still under way of a change is told to whoever asked for it", async () => {
  const world = new MemoryWorld();
  const folder = await mkdtemp(join(tmpdir(), "portolan-requests-"));
  const { log } = createLog();
  const journal = await Journal.open({ folder, log, ignores: false, nowMs: () => 0 });
  onTestFinished(async () => {
    await journal.close();
    await rm(folder, { recursive: true });
  });
  const live = liveWith(world.store, true);
  live.control = {
    control: createControl(world),
    world,
    journal,
    change: (_what, _caller, act) => act(),
  };
  world.note = "not applied yet";
  const ask = { objects: [group("a")], prune: false, dryRun: false };
  expect(await apply(live, ask)).toMatchObject({ revision: 1, note: "not applied yet" });
  expect(await apply(live, ask)).toEqual({ changes: [], revision: 1 });
});

test("events are what is logged from now on, with what people read", async () => {
  const ring = new LogRing(() => 0);
  const silent = () => undefined;
  const log = ring.tee({ debug: silent, info: silent, warn: silent, error: silent });
  log.info({}, "before");
  const ended = new AbortController();
  const events = followEvents(liveWith(undefined), ring, ended.signal);
  log.debug({}, "a detail");
  log.warn({ sink: "plane", failures: 2, deep: {} }, "sync failed");
  const seen: unknown[] = [];
  for await (const event of events) {
    seen.push(event);
    ended.abort();
  }
  expect(seen).toEqual([{ level: "warn", message: "sync failed sink=plane failures=2" }]);
  expect(ring.lines().map(({ message }) => message)).toEqual(["before", "sync failed"]);
  for (let count = 0; count < 5000; count += 1) log.info({}, `line ${count}`);
  expect(ring.lines()).toHaveLength(1000);
  expect(ring.lines().at(-1)?.message).toBe("line 4999");
});

test("of changes those by sources are told, and of commands whose they are", async () => {
  const ring = new LogRing(() => 0);
  const silent = () => undefined;
  const log = ring.tee({ debug: silent, info: silent, warn: silent, error: silent });
  const ended = new AbortController();
  const events = followEvents(liveWith(undefined), ring, ended.signal);
  const changes = ["create Service default/web", "delete Group default/g"];
  log.info({ audit: { owner: "control", revision: 1, changes, more: 0 } }, "state changed");
  log.info({ audit: { owner: "file:a", revision: 2, changes, more: 7 } }, "state changed");
  const audit = { via: "resp", from: "127.0.0.1:4711", command: "x", result: "ERR_USAGE" };
  log.warn({ audit: { ...audit, message: "no" } }, "command of resp was refused: x");
  const seen: unknown[] = [];
  for await (const event of events) {
    seen.push(event);
    if (seen.length === 2) ended.abort();
  }
  expect(seen).toEqual([
    { level: "info", message: `file:a: ${changes.join(", ")} and 7 more` },
    { level: "warn", message: "command of resp was refused: x: no", from: "127.0.0.1:4711" },
  ]);
});
