import { setImmediate as pause } from "node:timers/promises";
import { CONTROL_OWNER } from "../control/world.ts";
import type { Log } from "../core/log.ts";
import { formatListenAddress } from "../core/options/listen-address.ts";
import type { OpStream } from "../core/sinks/pump.ts";
import type { WatchRequest } from "../core/sinks/sink.ts";
import type { Reporter, StatusBoard } from "../core/status/status-board.ts";
import { GlobalStore } from "../core/store/global-store.ts";
import { NodeWatcher } from "../core/view/node-watcher.ts";
import type { Source, SourceReporter } from "../sources/source.ts";
import { writeAudit } from "./audit.ts";
import { auditedStream } from "./audited-stream.ts";
import { API } from "./backend-words.ts";
import type { Closers } from "./closers.ts";
import type { InstanceConfig } from "./config.ts";
import { createConflictReport } from "./conflict-reports.ts";
import type { FirstSyncs } from "./first-syncs.ts";
import type { ApiSourceSpec, InstanceDeps } from "./instance-deps.ts";
import type { Metrics } from "./metrics.ts";
import type { SourceSpec } from "./source-spec.ts";

/** So many nodes are named where one is not known. */
const MAX_NAMED = 5;

/** Where the operations of a node come from. */
export interface Feed {
  /** Missing where operations go straight through. */
  readonly store?: GlobalStore;
  /** Of what commands make, where there are any. */
  readonly controlReport?: Reporter | undefined;
  open(request: WatchRequest): OpStream | Promise<OpStream>;
  /** Settles when the state is beyond that revision; missing where operations go straight through. */
  changed?(since: number, signal: AbortSignal): Promise<void>;
  /** Begins to read; called once the streams are there. */
  start(): Promise<void>;
  /** Who follows it beside the streams of this node. */
  watchers(): number;
  /** For people: how a source goes; undefined where it does not say. */
  detailsOf(owner: string): string | undefined;
}

export interface FeedContext {
  readonly deps: InstanceDeps;
  readonly board: StatusBoard;
  readonly metrics: Metrics;
  readonly closers: Closers;
  readonly firstSyncs: FirstSyncs;
}

/**
 * From an API alone to backends that all take one node's view, operations go straight through.
 * Anything else needs a store in between.
 */
export async function createFeed(config: InstanceConfig, context: FeedContext): Promise<Feed> {
  const [first, ...others] = config.sources;
  const needsStore = config.servesApi || config.control !== undefined;
  return first?.kind === "api" && others.length === 0 && !needsStore
    ? createDirectFeed(first, config, context)
    : createStoreFeed(config, context);
}

function createDirectFeed(
  spec: ApiSourceSpec,
  config: InstanceConfig,
  { deps, board, firstSyncs }: FeedContext,
): Feed {
  const report = sourceReporter(board.add("source", spec.owner), firstSyncs);
  return {
    open: async (request) =>
      auditedStream(await deps.watchApi(spec, config, request, report), spec.owner, deps.log),
    start: async () => undefined,
    watchers: () => 0,
    detailsOf: () => undefined,
  };
}

async function createStoreFeed(config: InstanceConfig, context: FeedContext): Promise<Feed> {
  const { deps, board, metrics, closers, firstSyncs } = context;
  const sourceOwners = config.sources.map((source) => source.owner);
  const owners = config.control === undefined ? sourceOwners : [...sourceOwners, CONTROL_OWNER];
  const ownerOrder = config.values.sourceOrder === "first-wins" ? owners : [];
  const store = new GlobalStore({ ownerOrder });
  for (const owner of owners) store.register(owner);
  const reporters = new Map(owners.map((owner) => [owner, board.add("source", owner)]));
  metrics.watchStore(store);
  store.onCommit((commit) => writeAudit(deps.log, commit));
  const conflicts = createConflictReport(store, reporters, deps.log);
  store.onCommit(() => conflicts.look());
  const watchers = config.servesApi ? await attachApi(store, config, context) : () => 0;
  void firstSyncs.done.then(
    () => warnOfUnknownNode(store, config, deps.log),
    () => undefined,
  );
  const opened = new Map<string, Source>();
  return {
    store,
    controlReport: reporters.get(CONTROL_OWNER),
    open: ({ nodeName, sets, interest }) =>
      new NodeWatcher(store, nodeName, sets, pause, interest && new Set(interest)),
    changed: async (since, signal) => {
      while (store.revision <= since) await store.changed(signal);
    },
    start: async () => {
      const sources: { readonly spec: SourceSpec; readonly source: Source }[] = [];
      for (const spec of config.sources) {
        const source = await deps.createSource(spec, config);
        closers.add(`source ${spec.owner}`, () => source.close());
        sources.push({ spec, source });
        opened.set(spec.owner, source);
        metrics.watchPart("source", spec.owner, () => source.metrics?.() ?? []);
      }
      const begin = async (isWanted: (spec: SourceSpec) => boolean): Promise<void> => {
        const wanted = sources.filter(({ spec }) => isWanted(spec));
        await Promise.all(
          wanted.map(({ source }) => {
            const { owner } = source;
            const reporter = reporters.get(owner) ?? board.add("source", owner);
            const report = sourceReporter(reporter, firstSyncs, {
              onRead: () => conflicts.look(),
              onRefused: (lines) => conflicts.refused(owner, lines),
              triggered: (sinceMs, revision) => metrics.kubeProxy?.triggered(sinceMs, revision),
            });
            return source.start(store, report);
          }),
        );
      };
      // What is on this machine first: so the same ones win a clash at every start.
      await begin(isHere);
      await begin((spec) => !isHere(spec));
    },
    watchers,
    detailsOf: (owner) => opened.get(owner)?.details?.(),
  };
}

/** A node that the state does not know has no zone, no addresses and no endpoints: seldom what is meant. */
function warnOfUnknownNode(store: GlobalStore, { node, backends }: InstanceConfig, log: Log): void {
  const { nodes } = store.state();
  if (backends.length === 0 || nodes.size === 0 || nodes.has(node)) return;
  const known = [...nodes.keys()].sort().slice(0, MAX_NAMED);
  log.warn({ node, known }, "the state has no such node: give --node one that it has");
}

async function attachApi(
  store: GlobalStore,
  config: InstanceConfig,
  { deps, board, metrics, closers, firstSyncs }: FeedContext,
): Promise<() => number> {
  const reporter = board.add("server", API);
  const api = await deps.startApi(store, config);
  closers.add("API server", () => api.close());
  metrics.watchPart("server", API, () => api.metrics?.() ?? []);
  const where = formatListenAddress(api.address);
  reporter.ok(`listens on ${where}`);
  const ended = new AbortController();
  closers.add("wait for the sources", async () => ended.abort());
  void untilSynced(store, ended.signal).then(
    () => firstSyncs.applied(API),
    () => undefined,
  );
  return () => api.watchers();
}

async function untilSynced(store: GlobalStore, signal: AbortSignal): Promise<void> {
  while (!store.isSynced()) await store.changed(signal);
}

function isHere({ kind }: SourceSpec): boolean {
  return kind === "file" || kind === "given";
}

function sourceReporter(
  reporter: Reporter,
  firstSyncs: FirstSyncs,
  listener: Pick<SourceReporter, "triggered"> & {
    readonly onRead?: () => void;
    readonly onRefused?: (lines: readonly string[]) => void;
  } = {},
): SourceReporter {
  const { triggered } = listener;
  return {
    ...(triggered && { triggered }),
    ok: (message) => {
      reporter.ok(message);
      listener.onRead?.();
    },
    refused: (lines) => listener.onRefused?.(lines),
    failed: (error) => {
      reporter.failed(error.message);
      firstSyncs.failed(error);
    },
  };
}
