import type { Backend, BackendStatus } from "../../backends/backend.ts";
import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import { invalid, problemsError } from "../../core/model/problems.ts";
import { resolveOptions } from "../../core/options/resolve-options.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { Turns } from "../../core/turns.ts";
import { NodeWatcher } from "../../core/view/node-watcher.ts";
import { readDescription } from "./read-description.ts";
import { refuseUnknownKeys } from "./refuse-unknown-keys.ts";
import { SILENT_LOG } from "./silent-log.ts";
import type { StateDescription } from "./state-description.ts";

export interface ServeOptions {
  /** Event loops; one for each processor core by default. */
  readonly loops?: number;
  /** `posix`: system calls of Linux; `node`: Node's own sockets; `auto`, the default: posix where it works. */
  readonly provider?: "auto" | "posix" | "node";
  /** `auto`, the default: a loop with a single request at a time stays awake between its packets; `off`: it sleeps. */
  readonly stayAwake?: "auto" | "off";
  /** How long open connections may go on at the end; 30 s by default. */
  readonly drainTimeoutMs?: number;
  /** Hears what happens; nobody by default. A `pino` logger is one. */
  readonly log?: Log;
}

/** Listeners and servers of this process. */
export interface Serving {
  /**
   * Makes it so; only what differs is changed, and open connections go on. Settles when every listener
   * listens. Rejects where the description is wrong (then nothing is changed) or an address can not be had.
   */
  update(description: StateDescription): Promise<void>;
  /** What is served, and what can not be. */
  status(): BackendStatus;
  /** Counters and gauges, as Prometheus names them. */
  metrics(): readonly MetricFamily[];
  /** No new connections from now on; settles when the open ones have ended, or their time is over. */
  close(): Promise<void>;
}

const WORDS: readonly string[] = [
  "loops",
  "provider",
  "stayAwake",
  "drainTimeoutMs",
  "log",
] satisfies readonly (keyof ServeOptions)[];
const OWNER = "library";
const NODE = "this";
const MAX_DRAIN_MS = 86_400_000;

/**
 * Runs Portolan's own proxy in this process: a load balancer, a SOCKS5 or DNS server, or all of them.
 *
 *     const proxy = await serve({
 *       services: { web: { listen: "127.0.0.1:8080", servers: ["10.0.0.1:80", "10.0.0.2:80"] } },
 *     });
 *
 * Settles when everything listens.
 * @throws CoreError ERR_STATE_INVALID, ERR_CONFIG_INVALID for the options, or what an address can not be had for
 */
export async function serve(
  description: StateDescription,
  options: ServeOptions = {},
): Promise<Serving> {
  // Before anything is started: a wrong description is the usual mistake.
  const objects = readDescription(description);
  const backend = await openProxy(options);
  const store = new GlobalStore();
  const turns = new Turns();
  store.register(OWNER);
  const { nodeName, sets } = await backend.sink.waitRequest();
  const watcher = new NodeWatcher(store, nodeName, sets);
  const apply = async (wanted: typeof objects): Promise<void> => {
    store.transact(OWNER, (transaction) => transaction.replaceAll(wanted));
    store.markSynced(OWNER);
    await send(watcher, backend);
  };
  const close = async (): Promise<void> => {
    await turns.over();
    watcher.close();
    await backend.drain();
    await backend.close();
  };
  try {
    await backend.sink.setup();
    await turns.take(() => apply(objects));
  } catch (error) {
    await backend.close();
    throw error;
  }
  return {
    update: async (next) => {
      const wanted = readDescription(next);
      await turns.take(() => apply(wanted));
    },
    status: () => backend.status(),
    metrics: () => backend.metrics?.() ?? [],
    close,
  };
}

/** What runs is told by `sync` even where nothing is new: what failed before is tried again. */
async function send(watcher: NodeWatcher, { sink }: Backend): Promise<void> {
  for (const op of watcher.poll() ?? []) {
    if (op.op === "reset") sink.reset();
    else if (op.op !== "sync") sink.send(op);
  }
  await sink.send({ op: "sync" });
}

/** Nothing of the proxy is loaded before it is asked for. */
async function openProxy(options: ServeOptions): Promise<Backend> {
  checkOptions(options);
  const { loops, provider, stayAwake, drainTimeoutMs, log } = options;
  if (drainTimeoutMs !== undefined && !isDrainTime(drainTimeoutMs)) {
    const expected = "whole milliseconds, a day at most";
    throw problemsError("ERR_CONFIG_INVALID", [
      invalid(["drainTimeoutMs"], drainTimeoutMs, expected),
    ]);
  }
  const { USERSPACE } = await import("../../backends/userspace/definition.ts");
  const drainTimeout = drainTimeoutMs === undefined ? undefined : `${drainTimeoutMs}ms`;
  const given: Readonly<Record<string, unknown>> = { loops, provider, stayAwake, drainTimeout };
  const layer = { get: (name: string) => given[name], path: (name: string) => [name] };
  const { values, problems } = resolveOptions(USERSPACE.options, [layer]);
  if (values === undefined) throw problemsError("ERR_CONFIG_INVALID", problems);
  const context = { nodeName: NODE, log: log ?? SILENT_LOG, stdout: process.stdout };
  return USERSPACE.create(values, context);
}

/** Who does without types may give anything. */
function checkOptions(options: ServeOptions): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `the options are ${JSON.stringify(options)}; expected an object with some of ${WORDS.join(", ")}`,
    );
  }
  refuseUnknownKeys("ERR_CONFIG_INVALID", options, WORDS);
}

function isDrainTime(ms: number): boolean {
  return Number.isInteger(ms) && ms >= 0 && ms <= MAX_DRAIN_MS;
}
