import { CoreError, messageOf } from "../core/errors.ts";
import { formatListenAddress, type ListenAddress } from "../core/options/listen-address.ts";
import type { StatusBoard } from "../core/status/status-board.ts";
import type { Closers } from "./closers.ts";
import { type HttpServer, type Routes, startHttpServer } from "./http-server.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import type { Metrics } from "./metrics.ts";
import type { RunValues } from "./options.ts";
import { healthRoutes, metricsRoutes, proxyModeRoutes } from "./routes.ts";
import type { Succession } from "./succession.ts";
import { explainTaken } from "./who-listens.ts";

interface Wanted {
  readonly address: ListenAddress;
  readonly routes: Map<string, ReturnType<Routes["get"]> & object>;
}

/** An address that something else will listen on, later in the start. */
export interface LaterAddress {
  readonly address: ListenAddress;
  /** In words: `the HTTP API`. */
  readonly what: string;
  readonly option: string;
}

/**
 * Starts the servers for metrics and health that are asked for, all or none; one where both share an
 * address.
 * @throws CoreError ERR_LISTEN with all addresses that can not be had, those that are needed later too
 */
export async function startServers(
  values: RunValues,
  later: readonly LaterAddress[],
  context: {
    readonly deps: InstanceDeps;
    readonly board: StatusBoard;
    readonly metrics: Metrics;
    readonly closers: Closers;
    readonly succession: Pick<Succession, "onGiveWay">;
    /** What `/proxyMode` answers, where it stands in for a kube-proxy. */
    readonly proxyMode: string;
  },
): Promise<void> {
  const { deps, board, metrics, closers, succession, proxyMode } = context;
  const byAddress = new Map<string, Wanted>();
  const want = (address: ListenAddress | undefined, routes: Routes): void => {
    if (address === undefined) return;
    const key = formatListenAddress(address);
    const wanted = byAddress.get(key) ?? { address, routes: new Map() };
    for (const [path, answer] of routes) wanted.routes.set(path, answer);
    byAddress.set(key, wanted);
  };
  const { kubeProxy } = metrics;
  const health = healthRoutes(board, deps.nowMs);
  want(values.metricsListen, metricsRoutes(metrics));
  if (kubeProxy !== undefined) want(values.metricsListen, proxyModeRoutes(proxyMode));
  want(values.healthListen, kubeProxy?.count(health) ?? health);
  for (const { server, routes } of await listenAll([...byAddress.values()], later)) {
    closers.add("status server", () => server.close());
    succession.onGiveWay(() => server.close());
    const where = formatListenAddress(server.address);
    deps.log.info({ address: where, paths: [...routes.keys()] }, `status pages on ${where}`);
  }
}

interface Served {
  readonly server: HttpServer;
  readonly routes: Routes;
}

async function listenAll(
  all: readonly Wanted[],
  later: readonly LaterAddress[],
): Promise<readonly Served[]> {
  const served: Served[] = [];
  const errors: unknown[] = [];
  for (const { address, routes } of all) {
    try {
      served.push({ server: await listen(address, routes), routes });
    } catch (error) {
      errors.push(error);
    }
  }
  for (const one of later) {
    const error = await whyNot(one);
    if (error !== undefined) errors.push(error);
  }
  if (errors.length === 0) return served;
  await Promise.all(served.map(({ server }) => server.close()));
  throw errors.length === 1 ? errors[0] : allOf(errors);
}

function allOf(errors: readonly unknown[]): CoreError {
  const lines = errors.map((error) => messageOf(error));
  return new CoreError("ERR_LISTEN", lines.join("\n"), { cause: new AggregateError(errors) });
}

/** Listens for a moment: whoever needs it later is not told only then. Socket files may be stale ones. */
async function whyNot({ address, what, option }: LaterAddress): Promise<unknown> {
  if (address.kind === "unix" || address.port === 0) return undefined;
  try {
    const server = await startHttpServer(address, new Map());
    await server.close();
    return undefined;
  } catch (error) {
    return explainTaken(error, address, { what, remedy: remedyOf(option) });
  }
}

function remedyOf(option: string): string {
  return `choose another with ${option}, or ${option} off`;
}

async function listen(address: ListenAddress, routes: Routes): Promise<HttpServer> {
  try {
    return await startHttpServer(address, routes);
  } catch (error) {
    const isMetrics = routes.has("/metrics");
    const what = isMetrics ? "metrics" : "health";
    const option = isMetrics ? "--metrics-listen" : "--health-listen";
    throw await explainTaken(error, address, { what, remedy: remedyOf(option) });
  }
}
