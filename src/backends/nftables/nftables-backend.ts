import type { Log } from "../../core/log.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import {
  type ChangedKeys,
  createFullStateSink,
  type FullState,
} from "../../core/sinks/fullstate.ts";
import { createPacedSink } from "../../core/sinks/paced.ts";
import { Turns } from "../../core/turns.ts";
import { openLoopback } from "../../platform/linux/route-localnet.ts";
import type { Backend, BackendContext, BackendStatus } from "../backend.ts";
import { KERNEL_SETS } from "../kernel-options.ts";
import { ChangeTimes } from "./change-times.ts";
import { KernelSync } from "./kernel-sync.ts";
import { limitLines } from "./limit-lines.ts";
import { nftablesMetrics } from "./nftables-metrics.ts";
import type { NFTABLES_OPTIONS } from "./options.ts";
import { Planner } from "./plan/planner.ts";
import { checkPeriodOf, planSettingsOf } from "./plan-settings.ts";
import type { NftablesWorld } from "./world.ts";

const NAME = "nftables";

/**
 * Takes the only place of its kind in the network namespace; the kernel is not touched before the first
 * state comes.
 * @throws CoreError ERR_USAGE or ERR_CONFIG_INVALID, or ERR_NOT_POSSIBLE_HERE where another instance runs
 */
export function createNftablesBackend(
  options: ValuesOf<typeof NFTABLES_OPTIONS>,
  { nodeName, log, onRepair }: BackendContext,
  world: NftablesWorld,
): Backend {
  const planner = new Planner(planSettingsOf(options, nodeName));
  const checkPeriodMs = checkPeriodOf(options);
  const lock = world.takeLock();
  const { nft, elements, generation, clock } = world;
  const { tables } = planner;
  const kernel = new KernelSync({ nft, elements, generation, tables, log });
  const conntrack = world.createConntrack((ip) =>
    tables.some(({ facts }) => facts.nodePortAddresses.includes(ip)),
  );
  const times = new ChangeTimes(() => clock.nowMs());
  const turns = new Turns();
  let isFirst = true;
  let told: readonly string[] = [];

  const apply = async (state: FullState, changed: ChangedKeys): Promise<void> => {
    if (isFirst) await kernel.readKernel();
    isFirst = false;
    planner.update(state, changed);
    if (servesLoopback(planner)) await openLoopback(world.sysctl, log, NAME);
    await kernel.sync();
    onRepair?.(undefined);
    told = tellLimits(planner, told, log);
    const { removed } = await conntrack.reconcile(state.services, changed.services);
    if (removed > 0) log.info({ flows: removed }, `${removed} tracked flows were released`);
  };

  const check = async (): Promise<void> => {
    try {
      await kernel.check();
      onRepair?.(undefined);
    } catch (error) {
      log.error({ err: error }, "what others changed in the kernel could not be put right");
      onRepair?.(error);
    }
  };
  const stopChecks = clock.every(checkPeriodMs, () => turns.take(check));

  const sink = createFullStateSink({
    waitRequest: () => ({ nodeName, sets: KERNEL_SETS }),
    apply: (state, changed) => turns.take(() => apply(state, changed)),
  });
  return {
    sink: createPacedSink(times.watch(sink), options.minSyncPeriod, clock),
    status: () => statusOf(planner),
    metrics: () => [...nftablesMetrics(planner, kernel.counts()), times.metrics()],
    drain: async () => undefined,
    cleanup: () => turns.take(() => kernel.removeAll()),
    close: async () => {
      stopChecks();
      await turns.over();
      conntrack.close();
      elements.close();
      generation.close();
      lock.release();
    },
  };
}

function servesLoopback({ tables }: Planner): boolean {
  return tables.some(({ facts }) => facts.family === "v4" && facts.servesLoopback);
}

function tellLimits(planner: Planner, told: readonly string[], log: Log): readonly string[] {
  const lines = limitLines(planner.limits());
  for (const line of lines) if (!told.includes(line)) log.warn({ backend: NAME }, line);
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
