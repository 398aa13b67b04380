import { expect, test } from "vitest";
import { StatusBoard } from "../../core/status/status-board.ts";
import { readStatus } from "./read-status.ts";

test("an instance that only begins is not ready, and says so", async () => {
  const board = new StatusBoard({ now: () => 0 });
  const read = () =>
    readStatus({
      node: "here",
      version: "1.2.3",
      board,
      live: { isControlled: true, startedMs: 0, metricsText: async () => "" },
      nowMs: () => 0,
      planes: new Map(),
    });
  const notYet = { ready: false, reasons: ["the instance still starts"] };
  expect(await read()).toMatchObject({ ...notYet, components: [] });
  board.add("backend", "userspace").ok("");
  expect(await read()).toMatchObject(notYet);
  const control = board.add("source", "control");
  expect(await read()).toMatchObject({ ready: false, reasons: ["source control: starting"] });
  control.ok("");
  expect(await read()).toMatchObject({ ready: true, reasons: [] });
});
