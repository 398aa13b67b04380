import { expect, test } from "vitest";
import { RESET, SYNC } from "../view/ops.ts";
import { createPipe, type PipeMode } from "./pipe.ts";
import { brief, createRecorder, play, type REQUEST, setService } from "./sink.fixture.ts";
import type { Sink } from "./sink.ts";

const MODES: readonly PipeMode[] = ["sequence", "parallel"];

/** Fails its first syncs. */
function failing(times: number): { sink: Sink; syncs: () => number } {
  let syncs = 0;
  const { sink } = createRecorder();
  return {
    sink: {
      ...sink,
      send: (op) => {
        if (op.op === "sync" && ++syncs <= times) return Promise.reject(new Error("table locked"));
      },
    },
    syncs: () => syncs,
  };
}

test.each(MODES)("one failing does not stop the others (%s)", async (mode) => {
  const bad = failing(1);
  const good = createRecorder();
  const pipe = createPipe(
    [
      { name: "bad", sink: bad.sink },
      { name: "good", sink: good.sink },
    ],
    mode,
  );
  await expect(play(pipe, [RESET, setService("web"), SYNC])).rejects.toMatchObject({
    code: "ERR_SYNC_FAILED",
    message: "sync failed in 1 of 2 sinks: bad: table locked",
  });
  expect(good.ops.map(brief)).toEqual(["reset", "set services default/web", "sync"]);
});

test("a repeated sync goes only to those with something to apply", async () => {
  const bad = failing(2);
  const good = createRecorder();
  const pipe = createPipe(
    [
      { name: "bad", sink: bad.sink },
      { name: "good", sink: good.sink },
    ],
    "parallel",
  );
  await expect(play(pipe, [RESET, SYNC])).rejects.toThrow("bad");
  await expect(play(pipe, [SYNC])).rejects.toThrow("bad");
  await play(pipe, [SYNC]);
  expect(bad.syncs()).toBe(3);
  expect(good.ops.map(brief)).toEqual(["reset", "sync"]);
  await play(pipe, [SYNC]);
  expect(good.ops.map(brief)).toEqual(["reset", "sync", "sync"]);
});

test("a sink that throws is left out until the next reset, and named", async () => {
  let throws = true;
  const recorder = createRecorder();
  const sink: Sink = {
    ...recorder.sink,
    send: (op) => {
      if (op.op === "set" && throws) throw new Error("bug");
      return recorder.sink.send(op);
    },
  };
  const good = createRecorder();
  const pipe = createPipe(
    [
      { name: "broken", sink },
      { name: "good", sink: good.sink },
    ],
    "sequence",
  );
  const change = [RESET, setService("web"), SYNC];
  await expect(play(pipe, change)).rejects.toMatchObject({
    code: "ERR_SINK_BROKEN",
    message: expect.stringContaining("broken: bug"),
  });
  throws = false;
  await play(pipe, change);
  expect(recorder.ops.map(brief)).toEqual(["reset", "reset", "set services default/web", "sync"]);
  expect(good.ops.map(brief).filter((line) => line === "sync")).toHaveLength(2);
});

test("a sequence syncs in order, parallel all at once", async () => {
  for (const mode of MODES) {
    const order: string[] = [];
    const named = (name: string): { name: string; sink: Sink } => ({
      name,
      sink: {
        ...createRecorder().sink,
        send: async () => {
          order.push(`${name} begins`);
          await Promise.resolve();
          order.push(`${name} ends`);
        },
      },
    });
    await createPipe([named("a"), named("b")], mode).send(SYNC);
    expect(order).toEqual(
      mode === "sequence"
        ? ["a begins", "a ends", "b begins", "b ends"]
        : ["a begins", "b begins", "a ends", "b ends"],
    );
  }
});

test("joins the requests of its sinks", async () => {
  const wanting = (nodeName: string, sets: Parameters<typeof request>[1]): Sink => ({
    ...createRecorder().sink,
    waitRequest: () => request(nodeName, sets),
  });
  const pipe = createPipe(
    [
      { name: "a", sink: wanting("node-a", ["nodes", "groups"]) },
      { name: "b", sink: wanting("node-a", ["nodes"]) },
    ],
    "parallel",
  );
  expect(await pipe.waitRequest()).toEqual({ nodeName: "node-a", sets: ["nodes", "groups"] });
  const mixed = createPipe(
    [
      { name: "a", sink: wanting("node-a", []) },
      { name: "b", sink: wanting("node-b", []) },
    ],
    "parallel",
  );
  await expect(mixed.waitRequest()).rejects.toThrow('"node-a", "node-b"');
});

test("a setup that fails is named, the others are set up", async () => {
  let ready = 0;
  const { sink } = createRecorder();
  const pipe = createPipe(
    [
      { name: "bad", sink: { ...sink, setup: () => Promise.reject(new Error("no nft")) } },
      { name: "good", sink: { ...sink, setup: () => void ready++ } },
    ],
    "parallel",
  );
  await expect(pipe.setup()).rejects.toThrow("setup failed in 1 of 2 sinks: bad: no nft");
  expect(ready).toBe(1);
});

function request(nodeName: string, sets: typeof REQUEST.sets): typeof REQUEST {
  return { nodeName, sets };
}
