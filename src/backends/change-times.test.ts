import { expect, test } from "vitest";
import type { Sink } from "../core/sinks/sink.ts";
import { type Op, RESET, SYNC } from "../core/view/ops.ts";
import { ChangeTimes } from "./change-times.ts";

const CHANGE_A: Op = { op: "delete", set: "services", path: "default/a" };
const CHANGE_B: Op = { op: "delete", set: "services", path: "default/b" };

/** A sink with a clock of its own, whose syncs may fail. */
class Rig {
  nowMs = 0;
  fails = false;
  readonly #times = new ChangeTimes("nftables", () => this.nowMs);
  readonly #sink: Sink = this.#times.watch({
    setup: () => undefined,
    waitRequest: () => ({ nodeName: "here", sets: [] }),
    reset: () => undefined,
    send: async (op) => {
      if (op.op === "sync" && this.fails) throw new Error("no");
    },
  });

  async send(...ops: readonly Op[]): Promise<void> {
    for (const op of ops) {
      if (op.op === "reset") this.#sink.reset();
      else await this.#sink.send(op);
    }
  }

  sample(suffix: "_bucket" | "_sum" | "_count", le?: string): number | undefined {
    const { samples } = this.#times.metrics();
    return samples.find((one) => one.suffix === suffix && one.labels["le"] === le)?.value;
  }
}

test("each change counts with its own time", async () => {
  const rig = new Rig();
  await rig.send(CHANGE_A);
  rig.nowMs = 3000;
  await rig.send(CHANGE_B);
  rig.nowMs = 3500;
  await rig.send(SYNC);
  expect(rig.sample("_count")).toBe(2);
  expect(rig.sample("_sum")).toBe(4);
  expect(rig.sample("_bucket", "0.512")).toBe(1);
  expect(rig.sample("_bucket", "4.096")).toBe(2);
});

test("what a whole state holds counts from its beginning, what follows it does not", async () => {
  const rig = new Rig();
  await rig.send(RESET);
  rig.nowMs = 1000;
  await rig.send(CHANGE_A, SYNC);
  expect(rig.sample("_sum")).toBe(1);
  rig.nowMs = 5000;
  await rig.send(CHANGE_B, SYNC);
  expect(rig.sample("_sum")).toBe(1);
  expect(rig.sample("_count")).toBe(2);
});

test("a sync without changes counts nothing", async () => {
  const rig = new Rig();
  await rig.send(SYNC);
  expect(rig.sample("_count")).toBe(0);
});

test("a change that failed counts once, from its first word, also when all is told again", async () => {
  const rig = new Rig();
  await rig.send(CHANGE_A);
  rig.fails = true;
  await expect(rig.send(SYNC)).rejects.toThrow("no");
  rig.fails = false;
  rig.nowMs = 60_000;
  await rig.send(RESET, CHANGE_A, SYNC);
  expect(rig.sample("_count")).toBe(1);
  expect(rig.sample("_sum")).toBe(60);
  expect(rig.sample("_bucket", "16.384")).toBe(0);
  expect(rig.sample("_bucket", "+Inf")).toBe(1);
});
