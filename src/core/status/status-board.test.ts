import { expect, test } from "vitest";
import { type ComponentStatus, StatusBoard } from "./status-board.ts";

function createBoard(): { board: StatusBoard; clock: { nowMs: number }; news: ComponentStatus[] } {
  const clock = { nowMs: 1000 };
  const news: ComponentStatus[] = [];
  const board = new StatusBoard({
    now: () => clock.nowMs,
    lateAfterMs: 500,
    stuckAfterMs: 1000,
    onChange: (component) => void news.push(component),
  });
  return { board, clock, news };
}

test("ready only when every component is ok; starting is healthy, failed is not", () => {
  const { board } = createBoard();
  const file = board.add("source", "file");
  const print = board.add("backend", "print");
  file.ok("3 services");
  expect(board.health()).toEqual({
    live: true,
    ready: false,
    healthy: true,
    nodeEligible: true,
    reasons: ["backend print: starting"],
  });
  print.ok("");
  expect(board.health()).toMatchObject({ live: true, ready: true, healthy: true, reasons: [] });
  file.failed("web.yaml:3: port 70000");
  expect(board.health()).toEqual({
    live: true,
    ready: false,
    healthy: true,
    nodeEligible: true,
    reasons: ["source file: failed: web.yaml:3: port 70000"],
  });
});

test("a source that fails is unhealthy only before it was ever well; anything else always is", () => {
  const { board } = createBoard();
  const source = board.add("source", "kube");
  source.failed("no answer");
  expect(board.health().healthy).toBe(false);
  source.ok("");
  source.failed("no answer");
  expect(board.health()).toMatchObject({ healthy: true, ready: false });
  board.add("sync", "print").failed("locked");
  expect(board.health().healthy).toBe(false);
});

test("an empty board is ready", () => {
  expect(createBoard().board.health().ready).toBe(true);
});

test("remembers since when the health is what it is, not since the last word", () => {
  const { board, clock } = createBoard();
  const sync = board.add("sync", "print");
  clock.nowMs = 2000;
  sync.failed("locked");
  clock.nowMs = 3000;
  sync.failed("still locked");
  expect(board.components()).toMatchObject([{ message: "still locked", sinceMs: 2000 }]);
});

test("work that takes long is not healthy, then not live, and ending it heals", () => {
  const { board, clock } = createBoard();
  const sync = board.add("sync", "print");
  sync.ok("");
  sync.busy();
  clock.nowMs += 400;
  sync.busy();
  expect(board.health()).toMatchObject({ live: true, healthy: true, ready: true, reasons: [] });
  clock.nowMs += 200;
  expect(board.health()).toMatchObject({
    live: true,
    healthy: false,
    ready: false,
    reasons: ["sync print: busy for 1 s"],
  });
  clock.nowMs += 500;
  expect(board.health()).toMatchObject({ live: false, healthy: false, ready: false });
  sync.ok("");
  expect(board.health()).toMatchObject({ live: true, healthy: true, ready: true, reasons: [] });
});

test("what is degraded is not ready, but healthy, until it is well again", () => {
  const { board } = createBoard();
  const backend = board.add("backend", "userspace");
  backend.degraded("a listener is closed");
  expect(board.health()).toMatchObject({
    live: true,
    ready: false,
    healthy: true,
    reasons: ["backend userspace: degraded: a listener is closed"],
  });
  backend.ok("");
  expect(board.health()).toMatchObject({ ready: true, reasons: [] });
});

test("tells of a change once, and keeps what could not be honoured", () => {
  const { board, news } = createBoard();
  const source = board.add("source", "file");
  source.notHonoured(["cluster IP 10.0.0.1 is held by Service default/a of kube"]);
  source.ok("same");
  source.ok("same");
  expect(news).toMatchObject([
    { health: "ok", notHonoured: [expect.stringContaining("10.0.0.1")] },
  ]);
});
