import { CoreError } from "../core/errors.ts";
import { formatListenAddress, type ListenAddress } from "../core/options/listen-address.ts";
import type { StatusBoard } from "../core/status/status-board.ts";
import type { Closers } from "./closers.ts";
import { type HttpServer, type Routes, startHttpServer } from "./http-server.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import type { Metrics } from "./metrics.ts";
import type { RunValues } from "./options.ts";
import { healthRoutes, metricsRoutes } from "./routes.ts";
import type { Succession } from "./succession.ts";
import { explainTaken } from "./who-listens.ts";

interface Wanted {
  readonly address: ListenAddress;
  readonly routes: Map<string, ReturnType<Routes["get"]> & object>;
}

/**
 * Starts the servers for metrics and health that are asked for, all or none; one where both share an
 * address.
 * @throws CoreError ERR_LISTEN with all addresses that can not be had
 */
export async function startServers(
  values: RunValues,
  context: {
    readonly deps: InstanceDeps;
    readonly board: StatusBoard;
    readonly metrics: Metrics;
    readonly closers: Closers;
    readonly succession: Pick<Succession, "onGiveWay">;
  },
): Promise<void> {
  const { deps, board, metrics, closers, succession } = context;
  const byAddress = new Map<string, Wanted>();
  const want = (address: ListenAddress | undefined, routes: Routes): void => {
    if (address === undefined) return;
    const key = formatListenAddress(address);
    const wanted = byAddress.get(key) ?? { address, routes: new Map() };
    for (const [path, answer] of routes) wanted.routes.set(path, answer);
    byAddress.set(key, wanted);
  };
  want(values.metricsListen, metricsRoutes(metrics));
  want(values.healthListen, healthRoutes(board, deps.nowMs));
  for (const { server, routes } of await listenAll([...byAddress.values()])) {
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

async function listenAll(all: readonly Wanted[]): Promise<readonly Served[]> {
  const served: Served[] = [];
  const errors: unknown[] = [];
  for (const { address, routes } of all) {
    try {
      served.push({ server: await listen(address, routes), routes });
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === 0) return served;
  await Promise.all(served.map(({ server }) => server.close()));
  throw errors.length === 1 ? errors[0] : allOf(errors);
}

function allOf(errors: readonly unknown[]): CoreError {
  const lines = errors.map((error) => (error instanceof Error ? error.message : String(error)));
  return new CoreError("ERR_LISTEN", lines.join("\n"), { cause: new AggregateError(errors) });
}

async function listen(address: ListenAddress, routes: Routes): Promise<HttpServer> {
  try {
    return await startHttpServer(address, routes);
  } catch (error) {
    const isMetrics = routes.has("/metrics");
    const what = isMetrics ? "metrics" : "health";
    const option = isMetrics ? "--metrics-listen" : "--health-listen";
    const remedy = `choose another with ${option}, or ${option} off`;
    throw await explainTaken(error, address, { what, remedy });
  }
}
