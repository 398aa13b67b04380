import type { Log } from "../core/log.ts";
import type { NamedSink } from "../core/sinks/pipe.ts";
import { type ComponentStatus, StatusBoard } from "../core/status/status-board.ts";
import { API } from "./backend-words.ts";
import { Closers } from "./closers.ts";
import type { InstanceConfig } from "./config.ts";
import { createFeed, type Feed } from "./feed.ts";
import { FirstSyncs } from "./first-syncs.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import { createMetrics } from "./metrics.ts";
import { openBackends } from "./open-backends.ts";
import { pump } from "./pump.ts";
import type { LiveParts } from "./requests/live-parts.ts";
import { LogRing } from "./requests/log-ring.ts";
import { startServers } from "./servers.ts";
import { Succession, takesOver } from "./succession.ts";

export interface Instance {
  /** Settles when the first state is applied by all; rejects when anything failed before. */
  readonly applied: Promise<void>;
  /** Settles when another process has taken this one's place. */
  readonly replaced: Promise<void>;
  /** Ends what is under way and closes everything; what a kernel was told stays. */
  stop(): Promise<void>;
}

/** Wires sources to backends and starts them. What fails here closes what was opened before. */
export async function startInstance(
  config: InstanceConfig,
  outside: InstanceDeps,
): Promise<Instance> {
  const ring = new LogRing(outside.nowMs);
  const deps = { ...outside, log: ring.tee(outside.log) };
  const closers = new Closers(deps.log);
  try {
    return await wire(config, { deps, closers, ring });
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** The order matters: what was opened last is closed first, so sources end before their readers. */
async function wire(
  config: InstanceConfig,
  { deps, closers, ring }: { deps: InstanceDeps; closers: Closers; ring: LogRing },
): Promise<Instance> {
  const board = new StatusBoard({ now: deps.nowMs, onChange: logTo(deps.log) });
  let feed: Feed | undefined;
  const metrics = createMetrics({
    version: deps.version,
    board,
    watchers: () => config.backends.length + (feed?.watchers() ?? 0),
    nowSeconds: deps.monotonicSeconds,
    withProcess: config.values.metricsListen !== undefined,
  });
  const live: LiveParts = {
    isControlled: false,
    startedMs: deps.nowMs(),
    metricsText: () => metrics.text(),
  };
  const succession = await Succession.begin(config, { deps, board, closers, live, ring });
  await startServers(config.values, { deps, board, metrics, closers });
  const sinks = await openBackends(config, { deps, board, metrics, closers, succession });
  await succession.announce();
  const names = sinks.map((sink) => sink.name);
  const firstSyncs = new FirstSyncs(config.servesApi ? [...names, API] : names);
  feed = await createFeed(config, { deps, board, metrics, closers, firstSyncs });
  startPumps(sinks, feed, { deps, board, closers, firstSyncs });
  await feed.start();
  const { done } = firstSyncs;
  const applied = takesOver(config) ? done.then(() => succession.complete()) : done;
  return { applied, replaced: succession.replaced, stop: () => closers.closeAll() };
}

function startPumps(
  sinks: readonly NamedSink[],
  feed: Feed,
  context: {
    readonly deps: InstanceDeps;
    readonly board: StatusBoard;
    readonly closers: Closers;
    readonly firstSyncs: FirstSyncs;
  },
): void {
  const { deps, board, closers, firstSyncs } = context;
  const ended = new AbortController();
  const running = sinks.map(({ name, sink }) =>
    pump(
      {
        name,
        sink,
        open: (request) => feed.open(request),
        report: board.add("sync", name),
        log: deps.log,
        sleep: deps.sleep,
        random: deps.random,
        onApplied: () => firstSyncs.applied(name),
        onFailed: (error) => firstSyncs.failed(error),
      },
      ended.signal,
    ),
  );
  closers.add("streams", async () => {
    ended.abort();
    await Promise.all(running);
  });
}

/** Syncs log their own failures, with the error. */
function logTo(log: Log): (component: ComponentStatus) => void {
  return ({ kind, name, health, message }) => {
    if (kind === "sync") return;
    const component = `${kind} ${name}`;
    if (health === "failed") log.error({ component }, message);
    else log.info({ component }, message);
  };
}
