import { expect, test } from "vitest";
import type { ListenerConfig } from "../engine-config.ts";
import { simulatedConfig } from "../loop/simulated-proxy.fixture.ts";
import { LoopRoutes } from "./loop-routes.ts";

function listener(acceptLoops: string, workLoops: string): ListenerConfig {
  const [config] = simulatedConfig([], { listener: { acceptLoops, workLoops } }).listeners;
  if (config === undefined) throw new Error("a configuration has a listener");
  return config;
}

const loop = (name: string) => ({ name, place: 0, channels: async () => [] });
const ROUTES = new LoopRoutes([
  { name: "worker", loops: [loop("worker-1")] },
  { name: "front", loops: [loop("front-2")] },
  { name: "back", loops: [loop("back-3"), loop("back-4")] },
  { name: "empty", loops: [] },
]);

test.each([
  ["", "", { accept: "worker", work: "worker", workers: [] }],
  ["", "back", { accept: "back", work: "back", workers: [] }],
  ["front", "", { accept: "front", work: "worker", workers: ["worker-1"] }],
  ["front", "back", { accept: "front", work: "back", workers: ["back-3", "back-4"] }],
  ["back", "back", { accept: "back", work: "back", workers: [] }],
  ["gone", "back", { accept: "back", work: "back", workers: [] }],
  ["front", "empty", { accept: "front", work: "worker", workers: ["worker-1"] }],
])("accept on %j, work on %j", (accept, work, route) => {
  expect(ROUTES.of(listener(accept, work))).toEqual(route);
});

test("only groups that hand over are joined", () => {
  const listeners = [listener("", ""), listener("front", "back"), listener("", "back")];
  expect(ROUTES.pairs(listeners)).toEqual([{ from: "front", to: "back" }]);
});

test("what is asked for and not there is said, each once", () => {
  expect(ROUTES.unmet([listener("front", "back"), listener("", "")])).toEqual([]);
  expect(ROUTES.unmet([listener("gone", "gone"), listener("", "empty")])).toEqual([
    'web: loop group "gone" is not there, or has no loop; others are used',
    'web: loop group "empty" is not there, or has no loop; others are used',
  ]);
});
