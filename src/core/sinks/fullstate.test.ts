import { expect, test } from "vitest";
import { RESET, SYNC } from "../view/ops.ts";
import { createFullStateSink, type ServiceEndpoints } from "./fullstate.ts";
import { del, play, REQUEST, setEndpoint, setNode, setService } from "./sink.fixture.ts";
import type { Sink } from "./sink.ts";

interface Applied {
  readonly state: Record<string, readonly string[]>;
  readonly changed: readonly string[];
  readonly nodes: readonly string[];
  readonly changedNodes: readonly string[];
}

function createTarget(): {
  sink: Sink;
  applied: Applied[];
  live: () => ReadonlyMap<string, ServiceEndpoints>;
  fail: (times: number) => void;
} {
  const applied: Applied[] = [];
  let failures = 0;
  let services: ReadonlyMap<string, ServiceEndpoints> = new Map();
  const sink = createFullStateSink({
    waitRequest: () => REQUEST,
    apply: (state, changed) => {
      services = state.services;
      applied.push({
        state: Object.fromEntries(
          [...state.services].map(([key, { endpoints }]) => [key, endpoints.map((e) => e.path)]),
        ),
        changed: [...changed.services].sort(),
        nodes: [...state.further.nodes.keys()],
        changedNodes: [...changed.further.nodes],
      });
      if (failures-- > 0) throw new Error("not now");
    },
  });
  const fail = (times: number): void => {
    failures = times;
  };
  return { sink, applied, live: () => services, fail };
}

const FIRST = [RESET, setService("web"), setService("db"), setEndpoint("web", "a"), SYNC];

test("hands over everything, and all keys as changed the first time", async () => {
  const { sink, applied } = createTarget();
  await play(sink, FIRST);
  expect(applied[0]).toMatchObject({
    state: { "default/web": ["default/web/a"], "default/db": [] },
    changed: ["default/db", "default/web"],
  });
});

test("names only what changed since the last good sync", async () => {
  const { sink, applied } = createTarget();
  await play(sink, FIRST);
  await play(sink, [setEndpoint("web", "b"), setEndpoint("web", "a"), SYNC]);
  await play(sink, [del("services", "default/db"), SYNC]);
  await play(sink, [SYNC]);
  expect(applied.slice(1).map((call) => call.changed)).toEqual([
    ["default/web"],
    ["default/db"],
    [],
  ]);
  expect(applied.at(-1)?.state).toEqual({ "default/web": ["default/web/a", "default/web/b"] });
});

test("keeps the changed keys when a sync fails, and adds new ones", async () => {
  const { sink, applied, fail } = createTarget();
  fail(2);
  await expect(play(sink, FIRST)).rejects.toThrow("not now");
  await expect(play(sink, [SYNC])).rejects.toThrow("not now");
  await play(sink, [setService("new"), SYNC]);
  await play(sink, [SYNC]);
  expect(applied.map((call) => call.changed)).toEqual([
    ["default/db", "default/web"],
    ["default/db", "default/web"],
    ["default/db", "default/new", "default/web"],
    [],
  ]);
});

test("a reset with the same state changes nothing and keeps identities", async () => {
  const { sink, applied, live } = createTarget();
  await play(sink, FIRST);
  const before = live().get("default/web");
  await play(sink, FIRST);
  expect(applied[1]?.changed).toEqual([]);
  expect(live().get("default/web")).toBe(before);
});

test("a reset names what is gone, new or different", async () => {
  const { sink, applied } = createTarget();
  await play(sink, FIRST);
  await play(sink, [RESET, setService("web", 81), RESET, setService("web", 82), SYNC]);
  expect(applied[1]).toMatchObject({
    state: { "default/web": [] },
    changed: ["default/db", "default/web"],
  });
});

test("an endpoint that comes before its service waits for it", async () => {
  const { sink, applied } = createTarget();
  await play(sink, [RESET, setEndpoint("web", "a"), SYNC, setService("web"), SYNC]);
  expect(applied[0]).toMatchObject({ state: {}, changed: [] });
  expect(applied[1]).toMatchObject({
    state: { "default/web": ["default/web/a"] },
    changed: ["default/web"],
  });
});

test("gives the further sets too", async () => {
  const { sink, applied } = createTarget();
  await play(sink, [RESET, setNode("a"), setNode("b"), SYNC]);
  await play(sink, [setNode("a"), del("nodes", "b"), SYNC]);
  expect(applied[0]).toMatchObject({ nodes: ["a", "b"], changedNodes: ["a", "b"] });
  expect(applied[1]).toMatchObject({ nodes: ["a"], changedNodes: ["b"] });
});
