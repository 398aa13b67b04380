import { expect, test } from "vitest";
import { StatusBoard } from "../core/status/status-board.ts";
import { BackendReport } from "./backend-report.ts";

test("a repair that does not come to an end is not healthy", () => {
  let nowMs = 0;
  const board = new StatusBoard({ now: () => nowMs, lateAfterMs: 1000 });
  const report = new BackendReport({ report: board.add("backend", "x"), summary: "its proxy" });
  report.repaired(undefined);
  report.repairing();
  nowMs = 1001;
  expect(board.health()).toMatchObject({ healthy: false, reasons: ["backend x: busy for 1 s"] });
  report.repaired(undefined);
  expect(board.health().healthy).toBe(true);
});

test("a failed repair weighs more than a closed listener, which is told again once that is over", () => {
  const board = new StatusBoard({ now: () => 0 });
  const report = new BackendReport({ report: board.add("backend", "x"), summary: "its proxy" });
  const closed = (listener: string) => ({ listener, reason: "no file", isClosed: true });
  const seen = () => board.components().map(({ health, message }) => `${health}: ${message}`);
  report.tell(["no SCTP"], { summary: "", notHonoured: [], unserved: [closed("a"), closed("b")] });
  expect(seen()).toEqual(["degraded: Listener a is not served: no file, and 1 more"]);
  report.repaired("no room");
  expect(seen()).toEqual(["failed: no room"]);
  report.repaired(undefined);
  expect(seen()).toEqual(["degraded: Listener a is not served: no file, and 1 more"]);
  report.tell(["no SCTP"], { summary: "", notHonoured: [] });
  expect(seen()).toEqual(["ok: its proxy"]);
  report.tell(["no SCTP"], { summary: "2 listeners", notHonoured: [] });
  expect(seen()).toEqual(["ok: 2 listeners"]);
  expect(board.components()).toMatchObject([{ notHonoured: ["no SCTP"] }]);
});
