import type { StatusBoard } from "../core/status/status-board.ts";
import type { Answer, Routes } from "./http-server.ts";
import type { Metrics } from "./metrics.ts";

const OK = 200;
const UNAVAILABLE = 503;

/** `/livez`: nothing hangs. `/healthz`: and nothing failed. `/readyz`: and everything is well. */
export function healthRoutes(board: StatusBoard): Routes {
  return new Map([
    ["/healthz", () => healthAnswer(board, "healthy")],
    ["/livez", () => healthAnswer(board, "live")],
    ["/readyz", () => healthAnswer(board, "ready")],
  ]);
}

export function metricsRoutes(metrics: Metrics): Routes {
  const answer = async (): Promise<Answer> => ({
    status: OK,
    contentType: metrics.contentType,
    body: await metrics.text(),
  });
  return new Map([["/metrics", answer]]);
}

function healthAnswer(board: StatusBoard, question: "healthy" | "live" | "ready"): Answer {
  const health = board.health();
  const body = { ...health, components: board.components() };
  return {
    status: health[question] ? OK : UNAVAILABLE,
    contentType: "application/json",
    body: `${JSON.stringify(body, undefined, 2)}\n`,
  };
}
