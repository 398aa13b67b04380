import type { HealthReport, StatusBoard } from "../../core/status/status-board.ts";

/**
 * How an instance is. What it consists of comes on the board one after the other, its sources last:
 * before them nothing can be ready, and with commands not before `control` is one that is well.
 */
export function readHealth(board: StatusBoard): HealthReport {
  const health = board.health();
  if (board.components().some(({ kind }) => kind === "source")) return health;
  return { ...health, ready: false, reasons: [...health.reasons, "the instance still starts"] };
}
