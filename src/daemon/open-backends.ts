import type { BackendStatus, Finding, UnservedListener } from "../backends/backend.ts";
import { describeDeviation, deviationsOf } from "../backends/deviations.ts";
import { CoreError, messageOf } from "../core/errors.ts";
import { createPipe, type NamedSink } from "../core/sinks/pipe.ts";
import type { Sink } from "../core/sinks/sink.ts";
import type { StatusBoard } from "../core/status/status-board.ts";
import { BackendReport } from "./backend-report.ts";
import type { Closers } from "./closers.ts";
import type { BackendConfig, InstanceConfig } from "./config.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import type { Metrics } from "./metrics.ts";
import type { Succession } from "./succession.ts";
import { watchEligibility } from "./watch-eligibility.ts";

export interface OpenBackendsContext {
  readonly deps: InstanceDeps;
  readonly board: StatusBoard;
  readonly metrics: Metrics;
  readonly closers: Closers;
  readonly succession: Succession;
}

export interface OpenBackends {
  readonly sinks: readonly NamedSink[];
  /** What they do not serve at this moment. */
  readonly unserved: () => readonly UnservedListener[];
  /** How many of the things that each of them can not honour hold for this machine, whatever the state is. */
  readonly always: ReadonlyMap<string, number>;
}

/**
 * Creates the backends and joins them to streams: one each, or one for all.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE with the remedies
 */
export async function openBackends(
  config: InstanceConfig,
  context: OpenBackendsContext,
): Promise<OpenBackends> {
  const opened: OpenBackend[] = [];
  for (const backend of config.backends) opened.push(await openBackend(backend, config, context));
  return {
    sinks: joinSinks(
      opened.map(({ named }) => named),
      config.values.pipe,
    ),
    unserved: () => opened.flatMap(({ status }) => status().unserved ?? []),
    always: new Map(opened.map(({ named, always }) => [named.name, always])),
  };
}

interface OpenBackend {
  readonly named: NamedSink;
  readonly status: () => BackendStatus;
  readonly always: number;
}

function joinSinks(
  sinks: readonly NamedSink[],
  pipe: InstanceConfig["values"]["pipe"],
): readonly NamedSink[] {
  if (pipe === "separate" || sinks.length < 2) return sinks;
  const name = sinks.map((sink) => sink.name).join("+");
  return [{ name, sink: createPipe(sinks, pipe) }];
}

async function openBackend(
  { name, definition, options, reasons }: BackendConfig,
  config: InstanceConfig,
  { deps, board, metrics, closers, succession }: OpenBackendsContext,
): Promise<OpenBackend> {
  if (reasons !== undefined) deps.log.info({ backend: name, reasons }, `--to auto takes ${name}`);
  const findings = await definition.probe(deps.machine);
  refuseMissing(name, findings);
  const report = new BackendReport({
    report: board.add("backend", name),
    summary: definition.summary,
  });
  let tell = (): void => undefined;
  const backend = await definition.create(options, {
    nodeName: config.node,
    log: deps.log,
    stdout: deps.stdout,
    inherited: succession.inheritedBy(name),
    health: {
      isHealthy: () => board.health().healthy && haveOthersSynced(board, name),
    },
    onRepair: (error) =>
      report.repaired(
        error === undefined
          ? undefined
          : `what it programmed could not be put right: ${messageOf(error)}`,
      ),
    onRepairing: () => report.repairing(),
    onStatus: () => tell(),
  });
  // Not before: what it refuses to start with is its error, which is told already.
  for (const { what, remedy } of findings) deps.log.warn({ backend: name, remedy }, what);
  closers.add(`backend ${name}`, async () => {
    await backend.drain();
    await backend.close();
  });
  if (backend.plane !== undefined) succession.addPlane(name, backend.plane);
  metrics.watchPart(
    "backend",
    name,
    () => backend.metrics?.() ?? [],
    async () => backend.measure?.(),
  );
  const always = [
    ...findings.map(({ what, remedy }) => `${what}: ${remedy}`),
    ...deviationsOf(definition.name).map(describeDeviation),
  ];
  const followsNode = definition.sets.includes("nodes");
  const followNode = (sink: Sink): Sink =>
    followsNode
      ? watchEligibility(sink, config.node, (whyNot) => board.setNodeEligible(whyNot))
      : sink;
  tell = () => report.tell(always, backend.status());
  // Before the first sync it serves nothing: what it is, is more to tell.
  report.tell(always, { ...backend.status(), summary: "" });
  return {
    named: {
      name,
      sink: metrics.meter(
        name,
        afterSync(followNode(backend.sink), () => tell()),
      ),
    },
    status: () => backend.status(),
    always: always.length,
  };
}

/** A data plane that never had the state yet answers for nothing; who asks has not synced either. */
function haveOthersSynced(board: StatusBoard, asking: string): boolean {
  return board
    .components()
    .every(({ kind, name, okMs }) => kind !== "sync" || name === asking || okMs !== undefined);
}

/** What can not be honoured depends on what was asked for last. */
function afterSync(sink: Sink, act: () => void): Sink {
  return {
    setup: () => sink.setup(),
    waitRequest: () => sink.waitRequest(),
    reset: () => sink.reset(),
    send: (op) => {
      if (op.op !== "sync") return sink.send(op);
      return Promise.resolve(sink.send(op)).then(act);
    },
  };
}

function refuseMissing(name: string, findings: readonly Finding[]): void {
  const missing = findings.filter((finding) => finding.severity === "missing");
  if (missing.length === 0) return;
  const lines = missing.map((finding) => `  ${finding.what}: ${finding.remedy}`);
  throw new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    [`the backend "${name}" does not work here:`, ...lines].join("\n"),
  );
}
