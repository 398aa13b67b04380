import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { UnservedListener } from "../../backends/backend.ts";
import { CONTROL_OWNER, type DesiredChange } from "../../control/world.ts";
import { CoreError } from "../../core/errors.ts";
import { keyOf, type ModelObject } from "../../core/model/object.ts";
import { parseObject } from "../../core/model/parse.ts";
import { pump } from "../../core/sinks/pump.ts";
import type { Sink } from "../../core/sinks/sink.ts";
import { StatusBoard } from "../../core/status/status-board.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { NodeWatcher } from "../../core/view/node-watcher.ts";
import { createLog } from "../instance.fixture.ts";
import { Journal } from "../journal/journal.ts";
import { SyncProgress } from "../sync-progress.ts";
import { Committer } from "./committer.ts";

/** A data plane that listens where it may. */
class FakePlane {
  readonly listeners = new Map<string, ModelObject>();
  /** Ports that somebody else has. */
  readonly taken = new Set<number>();
  /** Fails with this, whatever it is asked for. */
  failure: Error | undefined;
  /** Takes so long. */
  delay: Promise<void> | undefined;
  unserved: readonly UnservedListener[] = [];
  /** Called when it is told to apply what it was sent. */
  onSync: () => void = () => undefined;

  readonly sink: Sink = {
    setup: () => undefined,
    waitRequest: () => ({ nodeName: "node-a", sets: ["listeners", "certificates", "groups"] }),
    reset: () => this.listeners.clear(),
    send: (op) => {
      if (op.op === "sync") return this.#sync();
      if (op.op === "set" && op.set === "listeners") this.listeners.set(op.path, op.value);
      if (op.op === "delete") this.listeners.delete(op.path);
      return undefined;
    },
  };

  async #sync(): Promise<void> {
    this.onSync();
    await this.delay;
    if (this.failure !== undefined) throw this.failure;
    const problems = [...this.listeners].flatMap(([key, object]) =>
      object.kind === "Listener" && this.taken.has(object.port)
        ? [{ key, message: `listener ${key}: ${object.port} is in use` }]
        : [],
    );
    if (problems.length === 0) return;
    throw new CoreError("ERR_LISTEN", problems.map(({ message }) => message).join("\n"), {
      problems: problems.map(({ key, message }) => ({
        path: ["listeners", key],
        fault: "malformed",
        value: message,
        expected: "a free address",
      })),
    });
  }
}

interface Bench {
  readonly store: GlobalStore;
  readonly plane: FakePlane;
  readonly journal: Journal;
  readonly committer: Committer;
  readonly messages: () => readonly string[];
  /** The names of all that commands made: in the store, and on the disk. */
  readonly names: () => Promise<readonly [readonly string[], readonly string[]]>;
  /** Disks are full while it is true. */
  disk: { isFull: boolean };
}

async function createBench(
  options: { readonly ownerOrder?: readonly string[]; readonly limitMs?: number } = {},
): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-commit-"));
  const { log, lines } = createLog();
  const store = new GlobalStore({ ownerOrder: options.ownerOrder ?? [] });
  store.markSynced("file");
  store.markSynced(CONTROL_OWNER);
  const plane = new FakePlane();
  const progress = new SyncProgress(["plane"]);
  const ended = new AbortController();
  const running = pump(
    {
      name: "plane",
      sink: plane.sink,
      open: (request) => new NodeWatcher(store, request.nodeName, request.sets),
      report: new StatusBoard({ now: () => 0 }).add("sync", "plane"),
      log,
      // Nobody ever waits so long: a commit hurries.
      sleep: (_, signal) => wait(3_600_000, undefined, { signal }),
      random: () => 0,
      onApplied: (revision) => progress.applied("plane", revision),
      onFailed: (error, revision) => progress.failed("plane", revision, error),
      hurried: (signal) => progress.hurried(signal),
    },
    ended.signal,
  );
  const disk = { isFull: false };
  const journalOptions = { folder, log, ignores: false, nowMs: () => 0 };
  const journal = await Journal.open({
    ...journalOptions,
    openFile: async (path, flags) => {
      const file = await open(path, flags);
      return {
        write: async (...args: [Buffer, number, number, number]) => {
          if (disk.isFull) throw new Error("ENOSPC: no space left");
          return file.write(...args);
        },
        truncate: (size) => file.truncate(size),
        datasync: () => file.datasync(),
        close: () => file.close(),
      };
    },
  });
  onTestFinished(async () => {
    ended.abort();
    await running;
    await journal.close();
    await rm(folder, { recursive: true });
  });
  const committer = new Committer({
    store,
    journal,
    progress,
    unserved: () => plane.unserved,
    log,
    ...(options.limitMs !== undefined && { limitMs: options.limitMs }),
  });
  const namesIn = (objects: Iterable<ModelObject>): readonly string[] =>
    [...objects].map(keyOf).sort();
  return {
    store,
    plane,
    journal,
    committer,
    disk,
    messages: () => lines.map(({ message }) => message),
    names: async () => {
      const onDisk = await Journal.open(journalOptions);
      await onDisk.close();
      const owned = ["Listener", "Group", "Certificate"] as const;
      const inStore = owned.flatMap((kind) =>
        [...store.objects(kind)].filter(
          (object) => store.ownerOf(kind, keyOf(object)) === CONTROL_OWNER,
        ),
      );
      return [namesIn(inStore), namesIn(onDisk.kept.objects())];
    },
  };
}

const group = (name: string, method = "random"): ModelObject =>
  parseObject({ kind: "Group", name, method });
const listener = (name: string, port: number, more: object = {}): ModelObject =>
  parseObject({
    kind: "Listener",
    name,
    address: "127.0.0.1",
    port,
    service: "default/web",
    ...more,
  });
const set = (...objects: ModelObject[]): DesiredChange => ({ set: objects, delete: [] });

function both(...names: string[]): readonly [readonly string[], readonly string[]] {
  const keys = names.map((name) => `default/${name}`).sort();
  return [keys, keys];
}

test("a change is in the store, on the data planes and on the disk when it is acknowledged", async () => {
  const { committer, plane, names } = await createBench();
  await committer.commit(set(group("g"), listener("a", 80)));
  expect([...plane.listeners.keys()]).toEqual(["default/a"]);
  expect(await names()).toEqual(both("a", "g"));
  await committer.commit({
    set: [listener("b", 81)],
    delete: [{ kind: "Listener", key: "default/a" }],
  });
  expect([...plane.listeners.keys()]).toEqual(["default/b"]);
  expect(await names()).toEqual(both("b", "g"));
});

test("what a data plane can not do is taken back, whole, and the next one works", async () => {
  const { committer, plane, names, store } = await createBench();
  await committer.commit(set(group("g"), listener("a", 80)));
  plane.taken.add(90);
  await expect(
    committer.commit({
      set: [group("g", "round-robin"), group("h"), listener("b", 90)],
      delete: [{ kind: "Listener", key: "default/a" }],
    }),
  ).rejects.toMatchObject({ code: "ERR_LISTEN", message: "listener default/b: 90 is in use" });
  expect([...plane.listeners.keys()]).toEqual(["default/a"]);
  expect(await names()).toEqual(both("a", "g"));
  expect(store.get("Group", "default/g")).toEqual(group("g"));
  await committer.commit(set(listener("b", 91)));
  expect(await names()).toEqual(both("a", "b", "g"));
});

test("what was wrong before is nobody's fault, nor is what concerns others", async () => {
  const { committer, plane, names, store } = await createBench();
  plane.taken.add(90);
  store.transact("file", (transaction) => transaction.set(listener("theirs", 90)));
  await committer.commit(set(listener("a", 80)));
  expect(await names()).toEqual(both("a"));
  await expect(committer.commit(set(listener("b", 90, { address: "127.0.0.2" })))).rejects.toThrow(
    /^listener default\/b: 90 is in use$/,
  );
  await committer.commit(set(group("g")));
  expect(await names()).toEqual(both("a", "g"));
});

test("a listener that is planned and not served is refused; so is a certificate that ends one", async () => {
  const { committer, plane, names } = await createBench();
  const tls = { tls: { certificates: ["default/c"] } };
  const reason = "its certificate can not be read";
  await committer.commit(set(listener("a", 80, tls), listener("plain", 81)));
  await committer.commit(set(listener("dangling", 82, { tls: { certificates: ["default/d"] } })));
  plane.unserved = [{ listener: "default/elsewhere", reason }];
  await committer.commit(set(group("g")));
  plane.onSync = () => {
    plane.unserved = [
      { listener: "default/a", reason },
      { listener: "default/dangling", reason: "no such certificate" },
    ];
  };
  const certificate = parseObject({
    kind: "Certificate",
    name: "c",
    certFiles: ["/none"],
    keyFile: "/none",
  });
  await expect(committer.commit(set(certificate))).rejects.toMatchObject({
    code: "ERR_LISTEN",
    message: `listener default/a: ${reason}`,
  });
  expect(await names()).toEqual(both("a", "dangling", "g", "plain"));
  // It is still so, and was before: other changes go on.
  await committer.commit(set(listener("a", 80, { ...tls, idleTimeoutMs: 5 })));
});

test("a listener that was not served before can be changed; a new trouble of it is refused", async () => {
  const { committer, plane } = await createBench();
  await committer.commit(set(listener("a", 80)));
  plane.unserved = [{ listener: "default/a", reason: "no such device" }];
  await committer.commit(set(listener("a", 80, { idleTimeoutMs: 5 })));
  plane.onSync = () => {
    plane.unserved = [{ listener: "default/a", reason: "not permitted" }];
  };
  await expect(committer.commit(set(listener("a", 80, { idleTimeoutMs: 6 })))).rejects.toThrow(
    "listener default/a: not permitted",
  );
});

test("what goes although others use it goes: their trouble is tolerated", async () => {
  const { committer, plane, names } = await createBench();
  const reason = "its certificate is gone";
  const a = listener("a", 80);
  await committer.commit(set(group("g"), a));
  plane.onSync = () => {
    plane.unserved = [{ listener: "default/a", reason }];
    plane.failure = new Error("a server is gone");
  };
  const change = {
    set: [listener("a", 80, { idleTimeoutMs: 5 })],
    delete: [{ kind: "Group", key: "default/g" } as const],
  };
  await expect(committer.commit(change)).rejects.toMatchObject({ code: "ERR_LISTEN" });
  plane.unserved = [];
  await committer.commit({ ...change, tolerates: true });
  expect(await names()).toEqual(both("a"));
});

test("a data plane that fails altogether is the fault of the change that it began with", async () => {
  const { committer, plane, names } = await createBench();
  await committer.commit(set(group("g")));
  plane.failure = new Error("the kernel says no");
  await expect(committer.commit(set(group("h")))).rejects.toMatchObject({
    code: "ERR_SYNC_FAILED",
    message: "plane: the kernel says no",
  });
  await committer.commit(set(listener("a", 80)));
  expect(await names()).toEqual(both("a", "g"));
});

test("a full disk leaves everything as it was, and the next change works when there is room", async () => {
  const { committer, plane, names, disk } = await createBench();
  await committer.commit(set(listener("a", 80)));
  disk.isFull = true;
  await expect(committer.commit(set(listener("b", 81)))).rejects.toMatchObject({
    code: "ERR_JOURNAL",
  });
  await expect(
    committer.keep({ add: [{ kind: "event-loop-group", name: "g" }], remove: [] }),
  ).rejects.toMatchObject({ code: "ERR_JOURNAL" });
  expect([...plane.listeners.keys()]).toEqual(["default/a"]);
  expect(await names()).toEqual(both("a"));
  disk.isFull = false;
  await committer.commit(set(listener("c", 82)));
  expect(await names()).toEqual(both("a", "c"));
});

test("a data plane that takes too long is not waited for: the change is kept, with a note", async () => {
  const { committer, plane, names, messages } = await createBench({ limitMs: 20 });
  let release: () => void = () => undefined;
  plane.delay = new Promise((resolve) => {
    release = resolve;
  });
  expect(await committer.commit(set(listener("a", 80)))).toContain("has not applied it yet");
  expect(await names()).toEqual(both("a"));
  expect(messages()).toContainEqual(expect.stringContaining("a change is kept, but"));
  plane.delay = undefined;
  release();
  expect(await committer.commit(set(listener("b", 81)))).toBe("");
});

test("a name or an address of another owner is refused by name, and nothing changes", async () => {
  const { committer, names, store } = await createBench();
  store.transact("file", (transaction) => transaction.set(group("theirs")));
  store.transact("file", (transaction) => transaction.set(listener("front", 80)));
  await expect(committer.commit(set(group("g"), group("theirs")))).rejects.toMatchObject({
    code: "ERR_KEY_TAKEN",
    message: expect.stringContaining("which Group default/theirs of file holds"),
  });
  await expect(committer.commit(set(listener("b", 80)))).rejects.toMatchObject({
    code: "ERR_ADDRESS_TAKEN",
  });
  expect(await names()).toEqual([[], []]);
});

test("all that commands made can be replaced at once", async () => {
  const { committer, names, journal } = await createBench();
  await committer.commit(set(group("a"), group("b"), group("c")));
  const { bytes } = journal;
  await committer.replace([group("a"), group("b"), group("c")]);
  expect(journal.bytes).toBe(bytes);
  await committer.replace([group("b"), group("d")]);
  expect(await names()).toEqual(both("b", "d"));
});

test("an object that waits for another owner's to go is kept, and taken back as it was", async () => {
  const { committer, plane, names, store, journal } = await createBench({
    ownerOrder: ["file", CONTROL_OWNER],
  });
  store.transact("file", (transaction) => transaction.set(group("g")));
  await committer.commit(set(group("g", "round-robin")));
  expect((await names())[1]).toEqual(["default/g"]);
  plane.taken.add(90);
  await expect(committer.commit(set(group("g", "source-hash"), listener("b", 90)))).rejects.toThrow(
    "90 is in use",
  );
  expect(journal.kept.objects()).toEqual([group("g", "round-robin")]);
  store.transact("file", (transaction) => transaction.delete("Group", "default/g"));
  expect(store.get("Group", "default/g")).toEqual(group("g", "round-robin"));
});

test("what commands made before is in force again, or refused by name", async () => {
  const { committer, store } = await createBench();
  await committer.commit(set(group("g")));
  store.transact(CONTROL_OWNER, (transaction) => transaction.replaceAll([]));
  committer.load();
  expect(store.ownerOf("Group", "default/g")).toBe(CONTROL_OWNER);
  store.transact(CONTROL_OWNER, (transaction) => transaction.replaceAll([]));
  store.transact("file", (transaction) => transaction.set(group("g")));
  expect(() => committer.load()).toThrow(/Group default\/g of control claims .* of file holds/);
});

test("while another process takes over nothing is changed; where it does not, all goes on", async () => {
  const { committer, names, plane } = await createBench();
  const isUnderWay = new Promise<void>((resolve) => {
    plane.onSync = resolve;
  });
  const underWay = committer.commit(set(group("a")));
  await isUnderWay;
  await committer.stop("another process takes over");
  await underWay;
  await expect(committer.commit(set(group("b")))).rejects.toMatchObject({
    code: "ERR_REFUSED",
    message: "another process takes over",
  });
  await expect(committer.keep({ add: [], remove: [] })).rejects.toThrow("takes over");
  committer.resume();
  await committer.commit(set(group("c")));
  expect(await names()).toEqual(both("a", "c"));
});

test("of two changes of one object at once the later is refused: it was meant for another state", async () => {
  const { committer, names, store } = await createBench();
  await committer.commit(set(group("g")));
  const first = committer.commit(set(group("g", "round-robin")));
  const second = committer.commit(set(group("g", "source-hash"), group("h")));
  await first;
  await expect(second).rejects.toMatchObject({ code: "ERR_REFUSED" });
  expect(store.get("Group", "default/g")).toEqual(group("g", "round-robin"));
  expect(await names()).toEqual(both("g"));
});
