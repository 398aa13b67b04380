import type { ComponentStatus, HealthReport, StatusBoard } from "../core/status/status-board.ts";
import type { Answer, Routes } from "./http-server.ts";
import type { Metrics } from "./metrics.ts";
import { readHealth } from "./requests/read-health.ts";

const OK = 200;
const UNAVAILABLE = 503;

/**
 * `/livez`: nothing hangs. `/healthz`: and nothing failed, and traffic from outside may come to this
 * node. `/readyz`: and everything is well.
 */
export function healthRoutes(board: StatusBoard, nowMs: () => number): Routes {
  const answer = (isWell: (health: HealthReport) => boolean) => (): Answer =>
    healthAnswer(board, nowMs(), isWell);
  return new Map([
    ["/healthz", answer(({ healthy, nodeEligible }) => healthy && nodeEligible)],
    ["/livez", answer(({ live }) => live)],
    ["/readyz", answer(({ ready }) => ready)],
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

/** The page by which a kube-proxy tells its mode. */
export function proxyModeRoutes(mode: string): Routes {
  const contentType = "text/plain; charset=utf-8";
  return new Map([["/proxyMode", (): Answer => ({ status: OK, contentType, body: mode })]]);
}

function healthAnswer(
  board: StatusBoard,
  nowMs: number,
  isWell: (health: HealthReport) => boolean,
): Answer {
  const health = readHealth(board);
  const components = board.components();
  const body = { ...kubeProxyFields(health, components, nowMs), ...health, components };
  return {
    status: isWell(health) ? OK : UNAVAILABLE,
    contentType: "application/json",
    body: `${JSON.stringify(body, undefined, 2)}\n`,
  };
}

/** What kube-proxy's answer has, for those who read that; a sync is of both families at once. */
function kubeProxyFields(
  { healthy }: HealthReport,
  components: readonly ComponentStatus[],
  nowMs: number,
): object {
  const times = components.flatMap(({ kind, okMs }) => (kind === "sync" ? (okMs ?? []) : []));
  // Of several backends the one counts that was brought up to date first.
  const lastUpdated = times.length === 0 ? undefined : timeText(Math.min(...times));
  const status = { lastUpdated, healthy };
  return { lastUpdated, currentTime: timeText(nowMs), status: { IPv4: status, IPv6: status } };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
