import { describe, expect, test } from "vitest";
import { CoreError } from "../errors.ts";
import { StatusBoard } from "../status/status-board.ts";
import { type Op, RESET, SYNC } from "../view/ops.ts";
import { type OpStream, type PumpOptions, pump } from "./pump.ts";
import type { Sink, WatchRequest } from "./sink.ts";

const DELETE: Op = { op: "delete", set: "nodes", path: "x" };

/** A stream whose changes the test gives. */
class FakeStream implements OpStream {
  readonly #changes: (readonly Op[])[] = [];
  readonly revision: number;
  #wake: () => void = () => undefined;
  isClosed = false;

  constructor(revision = 0) {
    this.revision = revision;
  }

  give(ops: readonly Op[]): void {
    this.#changes.push(ops);
    this.#wake();
  }

  poll(): readonly Op[] | undefined {
    return this.#changes.shift();
  }

  async next(signal: AbortSignal): Promise<readonly Op[]> {
    for (;;) {
      signal.throwIfAborted();
      const ops = this.poll();
      if (ops !== undefined) return ops;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }

  close(): void {
    this.isClosed = true;
  }
}

interface Bench {
  readonly streams: FakeStream[];
  readonly seen: string[];
  readonly sleeps: number[];
  readonly board: StatusBoard;
  readonly applied: () => number;
  /** Settles when the sink has applied so many changes. */
  untilApplied(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Runs a pump on a sink that does as `act` says for each operation. */
function startPump(
  act: (op: Op, count: number) => void | Promise<void>,
  more: Partial<PumpOptions> = {},
  requests: WatchRequest = { nodeName: "node-a", sets: [] },
): Bench {
  const streams: FakeStream[] = [];
  const seen: string[] = [];
  const sleeps: number[] = [];
  const waiting: (() => void)[] = [];
  let applied = 0;
  let count = 0;
  const note = (op: Op): void | Promise<void> => {
    seen.push(op.op);
    return act(op, ++count);
  };
  const sink: Sink = {
    setup: () => void seen.push("setup"),
    waitRequest: () => requests,
    reset: () => void note(RESET),
    send: note,
  };
  const board = new StatusBoard({ now: () => 0 });
  const silent = (): void => undefined;
  const ended = new AbortController();
  const running = pump(
    {
      name: "test",
      sink,
      open: () => {
        const stream = new FakeStream();
        stream.give([RESET, SYNC]);
        streams.push(stream);
        return stream;
      },
      report: board.add("sync", "test"),
      log: { debug: silent, info: silent, warn: silent, error: silent },
      sleep: async (ms) => void sleeps.push(ms),
      random: () => 0,
      backoff: { firstMs: 100, maxMs: 300 },
      onApplied: () => {
        applied += 1;
        for (const wake of waiting.splice(0)) wake();
      },
      ...more,
    },
    ended.signal,
  );
  return {
    streams,
    seen,
    sleeps,
    board,
    applied: () => applied,
    untilApplied: async (wanted) => {
      while (applied < wanted) await new Promise<void>((resolve) => void waiting.push(resolve));
    },
    stop: async () => {
      ended.abort();
      await running;
    },
  };
}

test("sets the sink up, then sends each change and its sync", async () => {
  const bench = startPump(() => undefined);
  await bench.untilApplied(1);
  bench.streams[0]?.give([DELETE, SYNC]);
  await bench.untilApplied(2);
  await bench.stop();
  expect(bench.seen).toEqual(["setup", "reset", "sync", "delete", "sync"]);
  expect(bench.board.health().ready).toBe(true);
  expect(bench.streams.map((stream) => stream.isClosed)).toEqual([true]);
});

test("repeats a failed sync with growing waits, without new changes, until it succeeds", async () => {
  let failures = 4;
  const errors: unknown[] = [];
  const bench = startPump(
    (op) => {
      if (op.op === "sync" && failures-- > 0) throw new Error("locked");
    },
    { onFailed: (error) => void errors.push(error) },
  );
  await bench.untilApplied(1);
  await bench.stop();
  expect(bench.seen).toEqual(["setup", "reset", "sync", "sync", "sync", "sync", "sync"]);
  expect(bench.sleeps).toEqual([100, 200, 300, 300]);
  expect(errors).toHaveLength(4);
});

test("what succeeds ends a row of failures: the next wait is a first one, and nothing is repeated", async () => {
  const failing = new Set([1, 3]);
  let syncs = 0;
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const bench = startPump(async (op) => {
    if (op.op !== "sync") return;
    await turn();
    if (failing.has(++syncs)) throw new Error("locked");
  });
  await bench.untilApplied(1);
  await turn();
  expect(bench.seen).toEqual(["setup", "reset", "sync", "sync"]);
  bench.streams[0]?.give([DELETE, SYNC]);
  await bench.untilApplied(2);
  await bench.stop();
  expect(bench.seen.slice(4)).toEqual(["delete", "sync", "sync"]);
  expect(bench.sleeps).toEqual([100, 100]);
});

test("a repeated sync takes along what changed in the meantime", async () => {
  let failures = 1;
  const bench = startPump((op) => {
    if (op.op !== "sync" || failures-- <= 0) return;
    bench.streams[0]?.give([DELETE, SYNC]);
    throw new Error("locked");
  });
  await bench.untilApplied(1);
  await bench.stop();
  expect(bench.seen).toEqual(["setup", "reset", "sync", "delete", "sync"]);
});

test("a sink that throws while it is sent operations gets a new stream", async () => {
  let failures = 1;
  const bench = startPump((op) => {
    if (op.op === "reset" && failures-- > 0) throw new Error("bug");
  });
  await bench.untilApplied(1);
  await bench.stop();
  expect(bench.seen).toEqual(["setup", "reset", "reset", "sync"]);
  expect(bench.streams).toHaveLength(2);
});

test("so does a pipe of which a part broke", async () => {
  let failures = 1;
  const bench = startPump((op) => {
    if (op.op === "sync" && failures-- > 0) throw new CoreError("ERR_SINK_BROKEN", "part");
  });
  await bench.untilApplied(1);
  await bench.stop();
  expect(bench.seen).toEqual(["setup", "reset", "sync", "reset", "sync"]);
});

test("a setup that fails is repeated", async () => {
  let failures = 2;
  let setups = 0;
  const bench = startPump(() => undefined, {
    sink: {
      setup: () => {
        setups += 1;
        if (failures-- > 0) throw new Error("no table");
      },
      waitRequest: () => ({ nodeName: "node-a", sets: [] }),
      reset: () => undefined,
      send: () => undefined,
    },
  });
  await bench.untilApplied(1);
  await bench.stop();
  expect(setups).toBe(3);
});

test("a failure is told on the board, and its end, too", async () => {
  let failures = 1;
  const messages: string[] = [];
  const bench = startPump(
    (op) => {
      if (op.op === "sync" && failures-- > 0) throw new Error("locked");
    },
    { sleep: async () => void messages.push(...bench.board.health().reasons) },
  );
  await bench.untilApplied(1);
  await bench.stop();
  expect(messages).toEqual(["sync test: failed: locked"]);
  expect(bench.board.health().healthy).toBe(true);
});

test("a sink that asks for another node gets another stream, and the first is closed", async () => {
  const requests = [
    { nodeName: "a", sets: [] },
    { nodeName: "b", sets: [] },
  ];
  const opened: string[] = [];
  const streams: FakeStream[] = [];
  const bench = startPump(() => undefined, {
    sink: {
      setup: () => undefined,
      waitRequest: () => requests.shift() ?? { nodeName: "b", sets: [] },
      reset: () => undefined,
      send: () => undefined,
    },
    open: ({ nodeName }) => {
      opened.push(nodeName);
      const stream = new FakeStream();
      stream.give([RESET, SYNC]);
      streams.push(stream);
      return stream;
    },
  });
  await bench.untilApplied(2);
  expect(streams.map((stream) => stream.isClosed)).toEqual([true, false]);
  await bench.stop();
  expect(opened).toEqual(["a", "b"]);
});

test("ends while it waits for the sink, and waits for a sync that is under way", async () => {
  const idle = startPump(() => undefined, {
    sink: {
      setup: () => undefined,
      waitRequest: () => new Promise(() => undefined),
      reset: () => undefined,
      send: () => undefined,
    },
  });
  await idle.stop();

  let finish: () => void = () => undefined;
  let began: () => void = () => undefined;
  const isBusy = new Promise<void>((resolve) => {
    began = resolve;
  });
  const busy = startPump((op) => {
    if (op.op !== "sync") return;
    began();
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  await isBusy;
  let isStopped = false;
  const stopping = busy.stop().then(() => {
    isStopped = true;
  });
  await Promise.resolve();
  expect(isStopped).toBe(false);
  finish();
  await stopping;
  expect(busy.applied()).toBe(1);
});

test("somebody who can not wait ends a pause; the revision is told with what came of it", async () => {
  const told: string[] = [];
  let ended = 0;
  let hurry: () => void = () => undefined;
  let failures = 1;
  const bench = startPump(
    (op) => {
      if (op.op === "sync" && failures-- > 0) throw new Error("not now");
    },
    {
      sleep: (_, signal) =>
        new Promise((_resolve, reject) => {
          const end = () => {
            ended += 1;
            reject(signal.reason);
          };
          signal.addEventListener("abort", end, { once: true });
        }),
      hurried: () =>
        new Promise((resolve) => {
          hurry = resolve;
          queueMicrotask(() => hurry());
        }),
      onFailed: (_, revision) => void told.push(`failed ${revision}`),
    },
  );
  await bench.untilApplied(1);
  expect(ended).toBe(1);
  await bench.stop();
  expect(bench.seen).toEqual(["setup", "reset", "sync", "sync"]);
  expect(told).toEqual(["failed 0"]);
});

describe("a change that comes while a pause is long", () => {
  /** Of a sync that fails at first; `changes` says whether there is more than what failed. */
  function startFailing(firstMs: number, changes: boolean, revision = 7) {
    let failures = 1;
    const pauses: number[] = [];
    const asked: number[] = [];
    const bench = startPump(
      (op) => {
        if (op.op === "sync" && failures-- > 0) throw new Error("not now");
      },
      {
        open: () => {
          const stream = new FakeStream(revision);
          stream.give([RESET, SYNC]);
          return stream;
        },
        backoff: { firstMs, maxMs: firstMs },
        // The shorter one is over at once, the pause itself never.
        sleep: (ms, signal) => {
          pauses.push(ms);
          if (ms < firstMs) return Promise.resolve();
          return new Promise((_, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason), { once: true });
          });
        },
        changed: async (since) => {
          asked.push(since);
          if (!changes) await new Promise(() => undefined);
        },
      },
    );
    return { bench, pauses, asked };
  }

  test("ends it, after a while", async () => {
    const { bench, pauses, asked } = startFailing(30_000, true);
    await bench.untilApplied(1);
    await bench.stop();
    expect(bench.seen).toEqual(["setup", "reset", "sync", "sync"]);
    expect(pauses).toEqual([30_000, 3000]);
    expect(asked).toEqual([7]);
  });

  test.each([
    ["where there is none", 30_000, false, 7, [7]],
    ["of a pause that is short", 3000, true, 7, []],
    ["before anything was taken", 30_000, true, 0, []],
  ])("ends nothing %s", async (_, firstMs, changes, revision, wanted) => {
    const { bench, asked } = startFailing(firstMs, changes, revision);
    await new Promise((resolve) => setImmediate(resolve));
    expect(bench.seen).toEqual(["setup", "reset", "sync"]);
    expect(asked).toEqual(wanted);
    await bench.stop();
  });
});
