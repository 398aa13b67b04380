import { expect, test } from "vitest";
import { sampleNode } from "../../test/support/samples.ts";
import type { Node } from "../core/model/node.ts";
import { watchEligibility } from "./watch-eligibility.ts";

test("a node that is deleted, not alive or about to go is not eligible; one that was never known is", async () => {
  const told: (string | undefined)[] = [];
  const sent: string[] = [];
  const sink = watchEligibility(
    {
      setup: () => undefined,
      waitRequest: () => ({ nodeName: "node-a", sets: [] }),
      reset: () => void sent.push("reset"),
      send: (op) => void sent.push(op.op),
    },
    "node-a",
    (whyNot) => told.push(whyNot),
  );
  const set = (more: Partial<Node>): void => {
    const value = sampleNode({ ...more, name: more.name ?? "node-a" });
    void sink.send({ op: "set", set: "nodes", path: value.name, value });
    void sink.send({ op: "sync" });
  };
  sink.reset();
  set({ name: "node-b", alive: false });
  set({});
  set({ alive: false });
  set({ leaving: "it is tainted ToBeDeletedByClusterAutoscaler" });
  set({});
  await sink.send({ op: "delete", set: "nodes", path: "node-a" });
  await sink.send({ op: "sync" });
  expect(told).toEqual([
    undefined,
    undefined,
    "node node-a is not alive",
    "node node-a: it is tainted ToBeDeletedByClusterAutoscaler",
    undefined,
    "node node-a was deleted",
  ]);
  expect(sent.slice(0, 3)).toEqual(["reset", "set", "sync"]);
});
