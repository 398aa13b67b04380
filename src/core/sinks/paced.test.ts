import { expect, test } from "vitest";
import { SYNC } from "../view/ops.ts";
import { createPacedSink } from "./paced.ts";
import type { Sink } from "./sink.ts";

const REQUEST = { nodeName: "here", sets: [] };

function setUp(minIntervalMs: number) {
  const sleeps: number[] = [];
  let nowMs = 1000;
  let syncMs = 0;
  let isFailing = false;
  const inner: Sink = {
    setup: () => undefined,
    waitRequest: () => REQUEST,
    reset: () => undefined,
    send: async (op) => {
      if (op.op !== "sync") return;
      nowMs += syncMs;
      if (isFailing) throw new Error("refused");
    },
  };
  const clock = {
    nowMs: () => nowMs,
    sleep: async (ms: number) => {
      sleeps.push(ms);
      nowMs += ms;
    },
  };
  return {
    sink: createPacedSink(inner, minIntervalMs, clock),
    sleeps,
    pass: (ms: number) => {
      nowMs += ms;
    },
    takes: (ms: number) => {
      syncMs = ms;
    },
    fail: () => {
      isFailing = true;
    },
  };
}

test("the first change is asked for at once", async () => {
  const { sink, sleeps } = setUp(100);
  expect(await sink.waitRequest()).toBe(REQUEST);
  expect(sleeps).toEqual([]);
});

test("time passes from the end of a sync to the next request", async () => {
  const { sink, sleeps, pass, takes } = setUp(100);
  takes(500);
  await sink.send(SYNC);
  pass(30);
  await sink.waitRequest();
  expect(sleeps).toEqual([70]);
});

test("who comes late enough does not wait", async () => {
  const { sink, sleeps, pass } = setUp(100);
  await sink.send(SYNC);
  pass(100);
  await sink.waitRequest();
  expect(sleeps).toEqual([]);
});

test("a sync that failed counts, too", async () => {
  const { sink, sleeps, fail } = setUp(100);
  fail();
  await expect(sink.send(SYNC)).rejects.toThrow("refused");
  await sink.waitRequest();
  expect(sleeps).toEqual([100]);
});
