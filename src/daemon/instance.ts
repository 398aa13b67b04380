import type { Log } from "../core/log.ts";
import type { NamedSink } from "../core/sinks/pipe.ts";
import { pump } from "../core/sinks/pump.ts";
import { type ComponentStatus, StatusBoard } from "../core/status/status-board.ts";
import { API } from "./backend-words.ts";
import { Closers } from "./closers.ts";
import type { InstanceConfig } from "./config.ts";
import type { ControlSide } from "./control/control-side.ts";
import { type Controllers, controllerAddresses } from "./control/controllers.ts";
import { startControl } from "./control/start-control.ts";
import { Deferred } from "./deferred.ts";
import { createFeed, type Feed } from "./feed.ts";
import { FirstSyncs } from "./first-syncs.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import { KubeProxyMetrics } from "./kube-proxy-metrics.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { openBackends } from "./open-backends.ts";
import { patiently } from "./patiently.ts";
import type { LiveParts } from "./requests/live-parts.ts";
import { LogRing } from "./requests/log-ring.ts";
import { readStatus } from "./requests/read-status.ts";
import { startServers } from "./servers.ts";
import { Succession, takesOver } from "./succession.ts";
import { SyncProgress } from "./sync-progress.ts";

export interface Instance {
  /** Settles when the first state is applied by all; rejects when anything failed before. */
  readonly applied: Promise<void>;
  /** Settles when all that it was asked for has begun, be it that the first state could not be applied. */
  readonly up: Promise<void>;
  /** Settles when another process has taken this one's place. */
  readonly replaced: Promise<void>;
  /** Settles when a command asks for the end. */
  readonly ended: Promise<void>;
  /** Only ever rejects: it can not go on. */
  readonly failed: Promise<never>;
  /** Who takes its commands, where it does. */
  readonly controllers: Controllers | undefined;
  /** Whether nothing hangs. */
  isLive(): boolean;
  /** Ends what is under way and closes everything; what a kernel was told stays. */
  stop(): Promise<void>;
}

interface Wiring {
  readonly deps: InstanceDeps;
  readonly closers: Closers;
  readonly ring: LogRing;
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
async function wire(config: InstanceConfig, wiring: Wiring): Promise<Instance> {
  const { deps, closers, ring } = wiring;
  const board = new StatusBoard({ now: deps.nowMs, onChange: logTo(deps.log) });
  let feed: Feed | undefined;
  const { kubeProxyMetrics } = config.values;
  const metrics = createMetrics({
    kubeProxy: kubeProxyMetrics ? new KubeProxyMetrics(deps.nowMs) : undefined,
    version: deps.version,
    board,
    watchers: () => config.backends.length + (feed?.watchers() ?? 0),
    nowSeconds: deps.monotonicSeconds,
    withProcess: config.values.metricsListen !== undefined,
  });
  const live: LiveParts = {
    isControlled: config.control !== undefined,
    startedMs: deps.nowMs(),
    metricsText: () => metrics.text(),
  };
  const succession = await Succession.begin(config, { deps, board, closers, live, ring });
  const isSuccessor = takesOver(config);
  const ended = new AbortController();
  closers.add("what is waited for", async () => ended.abort());
  const openServers = (): Promise<void> =>
    startServers(config.values, isSuccessor ? [] : controllerAddresses(config.control), {
      deps,
      board,
      metrics,
      closers,
      succession,
      proxyMode: config.backends[0]?.definition.name ?? API,
    });
  if (!isSuccessor) await openServers();
  const end = new Deferred<void>();
  const side = await openControl(config, {
    deps,
    board,
    metrics,
    closers,
    live,
    succession,
    end,
  });
  if (config.identity !== undefined) {
    const report = board.add("server", "identity");
    const { openIdentity } = await import("./mesh/open-identity.ts");
    await openIdentity(config.identity, { deps, report, metrics, closers, succession });
  }
  const parts = { deps, board, metrics, closers, succession };
  const { sinks, unserved, always } = await openBackends(config, parts);
  live.always = always;
  live.unserved = unserved;
  const engine = succession.engine();
  await side?.restoreLoops(engine);
  await succession.announce();
  const names = sinks.map((sink) => sink.name);
  const firstSyncs = new FirstSyncs(config.servesApi ? [...names, API] : names);
  feed = await createFeed(config, { deps, board, metrics, closers, firstSyncs });
  if (feed.store !== undefined) live.store = feed.store;
  live.sourceDetails = feed.detailsOf;
  const progress = new SyncProgress(names);
  startPumps(sinks, feed, { deps, board, metrics, closers, firstSyncs, progress });
  await feed.start();
  const { done } = firstSyncs;
  const later = (act: () => Promise<void>) => (): Promise<void> =>
    isSuccessor ? patiently(act, deps, ended.signal) : act();
  const begun = isSuccessor
    ? done.then(() => succession.complete()).then(later(openServers))
    : Promise.resolve();
  const started =
    side &&
    startControl(side, feed, {
      progress,
      unserved,
      engine,
      begun,
      open: later(() => side.openControllers()),
      signal: ended.signal,
    });
  const opened = started?.opened ?? begun;
  const failed = new Deferred<never>();
  // A successor that can not apply the first state is told by `applied`: nothing was begun then.
  const isFirstFailure = isSuccessor
    ? done.then(
        () => false,
        () => true,
      )
    : Promise.resolve(false);
  opened.catch(async (error: unknown) => {
    if (!ended.signal.aborted && !(await isFirstFailure)) failed.reject(error);
  });
  // Where nothing has to be waited for, what goes wrong is told by not starting at all.
  if (started?.isAttached === true && !isSuccessor) await opened;
  const applied = Promise.all([done, begun]).then(() => undefined);
  const up = Promise.all([opened, done.catch(() => undefined)]).then(() => undefined);
  // Not everyone asks.
  for (const promise of [applied, up]) promise.catch(() => undefined);
  return {
    applied,
    up,
    replaced: succession.replaced,
    ended: end.promise,
    failed: failed.promise,
    controllers: side?.controllers,
    isLive: () => board.health().live,
    stop: () => closers.closeAll(),
  };
}

/** Undefined where no commands are taken. */
async function openControl(
  config: InstanceConfig,
  context: {
    readonly deps: InstanceDeps;
    readonly board: StatusBoard;
    readonly metrics: Metrics;
    readonly closers: Closers;
    readonly live: LiveParts;
    readonly succession: Succession;
    readonly end: Deferred<void>;
  },
): Promise<ControlSide | undefined> {
  const { control } = config;
  if (control === undefined) return undefined;
  const { deps, board, metrics, closers, live, succession, end } = context;
  // Only here: a third of the daemon is there for commands.
  const { ControlSide } = await import("./control/control-side.ts");
  const side = await ControlSide.open({
    config,
    control,
    deps,
    closers,
    live,
    report: board.add("server", "controllers"),
    meshReport: () => board.add("server", "mesh"),
    metrics,
    status: () => readStatus(succession.parts),
    shutdown: () => end.resolve(),
  });
  await succession.addStandstill({ begin: () => side.pause(), end: () => side.resume() });
  succession.onGiveWay(() => side.giveWay());
  return side;
}

function startPumps(
  sinks: readonly NamedSink[],
  feed: Feed,
  context: {
    readonly deps: InstanceDeps;
    readonly board: StatusBoard;
    readonly metrics: Metrics;
    readonly closers: Closers;
    readonly firstSyncs: FirstSyncs;
    readonly progress: SyncProgress;
  },
): void {
  const { deps, board, metrics, closers, firstSyncs, progress } = context;
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
        onApplied: (revision) => {
          metrics.kubeProxy?.applied(name, revision);
          progress.applied(name, revision);
          firstSyncs.applied(name);
        },
        onFailed: (error, revision) => {
          progress.failed(name, revision, error);
          firstSyncs.failed(error);
        },
        hurried: (signal) => progress.hurried(signal),
        ...(feed.changed && { changed: feed.changed }),
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
  const before = new Map<string, ComponentStatus["health"]>();
  return ({ kind, name, health, message }) => {
    if (kind === "sync") return;
    const component = `${kind} ${name}`;
    const wasOk = before.get(component) === "ok";
    before.set(component, health);
    // How much a backend serves changes with every sync.
    if (kind === "backend" && health === "ok" && wasOk) log.debug({ component }, message);
    else if (health === "failed") log.error({ component }, message);
    else if (health === "degraded") log.warn({ component }, message);
    else log.info({ component }, message);
  };
}
