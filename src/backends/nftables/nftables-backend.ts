import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../core/log.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import {
  type ChangedKeys,
  createFullStateSink,
  type FullState,
} from "../../core/sinks/fullstate.ts";
import type { Backend, BackendContext, BackendStatus } from "../backend.ts";
import { ChangeTimes } from "./change-times.ts";
import { KernelSync } from "./kernel-sync.ts";
import { limitLines } from "./limit-lines.ts";
import { nftablesMetrics } from "./nftables-metrics.ts";
import { type NFTABLES_OPTIONS, NFTABLES_SETS } from "./options.ts";
import { Planner } from "./plan/planner.ts";
import { planSettingsOf } from "./plan-settings.ts";
import type { NftablesWorld } from "./world.ts";

const ROUTE_LOCALNET = "net.ipv4.conf.all.route_localnet";

/**
 * Takes the only place of its kind in the network namespace; the kernel is not touched before the first
 * state comes.
 * @throws CoreError ERR_USAGE, or ERR_NOT_POSSIBLE_HERE where another instance runs
 */
export function createNftablesBackend(
  options: ValuesOf<typeof NFTABLES_OPTIONS>,
  { nodeName, log }: BackendContext,
  world: NftablesWorld,
): Backend {
  const planner = new Planner(planSettingsOf(options, nodeName));
  const lock = world.takeLock();
  const { nft, elements, generation, nowMs } = world;
  const { tables } = planner;
  const kernel = new KernelSync({ nft, elements, generation, tables, log });
  const conntrack = world.createConntrack((ip) =>
    tables.some(({ facts }) => facts.nodePortAddresses.includes(ip)),
  );
  const times = new ChangeTimes(nowMs);
  const turns = new Turns();
  let isFirst = true;
  let lastSyncMs = Number.NEGATIVE_INFINITY;
  let told: readonly string[] = [];

  const apply = async (state: FullState, changed: ChangedKeys): Promise<void> => {
    if (isFirst) await kernel.readKernel();
    isFirst = false;
    planner.update(state, changed);
    await openLoopback(planner, world, log);
    await kernel.sync();
    told = tellLimits(planner, told, log);
    const { removed } = await conntrack.reconcile(state.services, changed.services);
    if (removed > 0) log.info({ flows: removed }, `${removed} tracked flows were released`);
    lastSyncMs = nowMs();
  };

  const timer = setInterval(() => {
    turns
      .take(() => kernel.check())
      .catch((error: unknown) => {
        log.error({ err: error }, "what others changed in the kernel could not be put right");
      });
  }, options.syncPeriod);
  timer.unref();

  const sink = createFullStateSink({
    waitRequest: async () => {
      const waitMs = lastSyncMs + options.minSyncPeriod - nowMs();
      if (waitMs > 0) await delay(waitMs);
      return { nodeName, sets: NFTABLES_SETS };
    },
    apply: (state, changed) => turns.take(() => apply(state, changed)),
  });
  return {
    sink: times.watch(sink),
    status: () => statusOf(planner),
    metrics: () => [...nftablesMetrics(planner, kernel.counts()), times.metrics()],
    drain: async () => undefined,
    cleanup: () => turns.take(() => kernel.removeAll()),
    close: async () => {
      clearInterval(timer);
      await turns.take(async () => undefined);
      conntrack.close();
      elements.close();
      generation.close();
      lock.release();
    },
  };
}

/** One at a time, in the order in which they came. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#last.then(act);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/** Connections to loopback leave it only with the kernel's leave. */
async function openLoopback(planner: Planner, { sysctl }: NftablesWorld, log: Log): Promise<void> {
  const isServed = planner.tables.some(
    ({ facts }) => facts.family === "v4" && facts.servesLoopback,
  );
  if (!isServed || !(await sysctl.ensure(ROUTE_LOCALNET, "1"))) return;
  log.info({}, `${ROUTE_LOCALNET} was set to 1, so that services answer on 127.0.0.1`);
}

function tellLimits(planner: Planner, told: readonly string[], log: Log): readonly string[] {
  const lines = limitLines(planner.limits());
  for (const line of lines) if (!told.includes(line)) log.warn({ backend: "nftables" }, line);
  return lines;
}

function statusOf(planner: Planner): BackendStatus {
  const counts = planner.tables.map((table) => table.counts());
  const sum = (of: (one: (typeof counts)[number]) => number) =>
    counts.reduce((total, one) => total + of(one), 0);
  return {
    summary: `${sum(({ frontends }) => frontends)} addresses, ${sum(({ slots }) => slots)} slots, ${sum(({ chains }) => chains)} chains`,
    notHonoured: limitLines(planner.limits()),
  };
}
