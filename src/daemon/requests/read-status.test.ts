import { expect, test } from "vitest";
import { parseObject } from "../../core/model/parse.ts";
import { StatusBoard } from "../../core/status/status-board.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
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

test("a listener that is closed says why, one that is only not served as asked does not", async () => {
  const store = new GlobalStore({ ownerOrder: [] });
  store.register("file");
  const listener = (name: string, port: number) =>
    parseObject({ kind: "Listener", name, address: "127.0.0.1", port, service: "default/web" });
  store.transact("file", (change) => change.replaceAll([listener("a", 1), listener("b", 2)]));
  const { listeners } = await readStatus({
    node: "here",
    version: "1.2.3",
    board: new StatusBoard({ now: () => 0 }),
    live: {
      isControlled: false,
      startedMs: 0,
      metricsText: async () => "",
      store,
      unserved: () => [
        { listener: "default/a", reason: "no file", isClosed: true },
        { listener: "default/b", reason: "what was there before is kept" },
      ],
    },
    nowMs: () => 0,
    planes: new Map(),
  });
  expect(listeners.map(({ key, problem }) => [key, problem])).toEqual([
    ["default/a", "no file"],
    ["default/b", undefined],
  ]);
});
