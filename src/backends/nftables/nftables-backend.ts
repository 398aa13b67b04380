import type { Log } from "../../core/log.ts";
import { FAMILIES } from "../../core/model/address.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import {
  type ChangedKeys,
  createFullStateSink,
  type FullState,
} from "../../core/sinks/fullstate.ts";
import { createPacedSink } from "../../core/sinks/paced.ts";
import { Turns } from "../../core/turns.ts";
import type { InstanceLock } from "../../platform/linux/instance-lock.ts";
import { refuseKubeProxy } from "../../platform/linux/kube-proxy-presence.ts";
import { LoopbackOpener } from "../../platform/linux/route-localnet.ts";
import type { Backend, BackendContext, BackendStatus } from "../backend.ts";
import { ChangeTimes } from "../change-times.ts";
import { DirectFollower } from "../direct-follower.ts";
import { DirectKeeper } from "../direct-keeper.ts";
import { directSettingOf } from "../direct-setting.ts";
import { FastKeeper } from "../fast-keeper.ts";
import { FlowKeeper } from "../flow-keeper.ts";
import { KERNEL_SETS } from "../kernel-options.ts";
import { limitLines } from "../limit-lines.ts";
import { type KernelCounts, tellInKernel } from "../tell-in-kernel.ts";
import { directSubjects } from "./direct-subjects.ts";
import { KernelSync } from "./kernel-sync.ts";
import { nftablesMetrics } from "./nftables-metrics.ts";
import type { NFTABLES_OPTIONS } from "./options.ts";
import { OWN_RULES } from "./own-rules.ts";
import { Planner, servicesTouched } from "./plan/planner.ts";
import { checkPeriodOf, planSettingsOf } from "./plan-settings.ts";
import type { NftablesWorld } from "./world.ts";

const NAME = "nftables";

/**
 * Takes the only place of its kind in the network namespace; the kernel is not touched before the first
 * state comes.
 * @throws CoreError ERR_USAGE or ERR_CONFIG_INVALID, or ERR_NOT_POSSIBLE_HERE where another instance or a
 *   kube-proxy runs, or connections have to be direct and can not be
 */
export async function createNftablesBackend(
  options: ValuesOf<typeof NFTABLES_OPTIONS>,
  context: BackendContext,
  world: NftablesWorld,
): Promise<Backend> {
  const planner = new Planner(planSettingsOf(options, context.nodeName));
  const checkPeriodMs = checkPeriodOf(options);
  const setting = directSettingOf(options, context);
  const { isForCleanup = false } = context;
  const lock = world.takeLock(isForCleanup);
  try {
    // What is removed is in tables of our own, which a kube-proxy does not know.
    if (!options.takeOver && !isForCleanup) await refuseKubeProxy(world.findKubeProxy);
    const direct = await DirectKeeper.start({
      ...setting,
      onStatus: context.onStatus,
      families: FAMILIES,
      open: world.openDirect,
      log: context.log,
      backend: NAME,
    });
    const fast = await FastKeeper.startAfter(direct, {
      mode: isForCleanup ? "off" : options.fastPath,
      world: world.fast,
      own: OWN_RULES,
      sysctl: world.sysctl,
      log: context.log,
      backend: NAME,
      onStatus: context.onStatus,
    });
    const { minSyncPeriod } = options;
    const parts = { planner, direct, fast, lock, checkPeriodMs, minSyncPeriod, context, world };
    return openBackend(parts);
  } catch (error) {
    lock.release();
    throw error;
  }
}

interface BackendParts {
  readonly planner: Planner;
  readonly direct: DirectKeeper;
  readonly fast: FastKeeper;
  readonly lock: InstanceLock;
  readonly checkPeriodMs: number;
  readonly minSyncPeriod: number;
  readonly context: BackendContext;
  readonly world: NftablesWorld;
}

function openBackend(parts: BackendParts): Backend {
  const { planner, direct, fast, lock, checkPeriodMs, minSyncPeriod, world } = parts;
  const { nodeName, log, onRepair, onRepairing } = parts.context;
  const { nft, elements, generation, clock } = world;
  const { tables } = planner;
  const kernel = new KernelSync({ nft, elements, generation, tables, log });
  const flows = new FlowKeeper(
    ({ answersNodePorts }) => world.createConntrack(answersNodePorts),
    (ip) => tables.some(({ facts }) => facts.nodePortAddresses.includes(ip)),
    log,
    NAME,
  );
  const loopback = new LoopbackOpener(world.sysctl, log, NAME);
  const times = new ChangeTimes(NAME, () => clock.nowMs());
  const turns = new Turns();
  const follower = new DirectFollower({ direct, turns, log, backend: NAME });
  /** What the kernel should hold; undefined before the first state, and once all was removed. */
  let current: FullState | undefined;
  let isRead = false;
  let isTold = false;
  let told: readonly string[] = [];

  const release = async (state: FullState): Promise<void> => {
    const removed = await flows.reconcile({
      get: (key) => state.services.get(key),
      listenersOf: (key) => planner.listenersOf(key, state),
    });
    if (removed > 0) log.info({ flows: removed }, `${removed} tracked flows were released`);
  };

  const apply = async (state: FullState, changed: ChangedKeys): Promise<void> => {
    if (!isRead) await kernel.readKernel();
    isRead = true;
    planner.update(state, changed);
    current = state;
    flows.note([...changed.services, ...planner.takeMoved()]);
    follower.onChange(servicesTouched(state, changed), directSubjects(state));
    await kernel.sync();
    await follower.onWritten();
    // The rules now keep strangers away from loopback.
    if (planner.servesLoopback) await loopback.open();
    onRepair?.(undefined);
    if (!isTold) tellInKernel(NAME, countsOf(state), log);
    isTold = true;
    told = tellLimits(planner, told, log);
    await release(state);
  };

  const check = async (): Promise<void> => {
    onRepairing?.();
    try {
      await kernel.check();
      // Also what a sync could not write.
      await follower.onRepaired(current !== undefined);
      if (current !== undefined && planner.servesLoopback) await loopback.open();
      onRepair?.(undefined);
      // A sync that could not write left them as they were.
      if (current !== undefined) await release(current);
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
    sink: createPacedSink(times.watch(sink), minSyncPeriod, clock),
    status: () => statusOf(planner, direct, fast),
    metrics: () => [
      ...nftablesMetrics(planner, kernel.counts()),
      ...direct.metrics(),
      ...fast.metrics(),
      times.metrics(),
    ],
    drain: async () => {
      await turns.over();
      await fast.drain();
    },
    cleanup: () =>
      turns.take(async () => {
        current = undefined;
        follower.onRemoval();
        await fast.close();
        return kernel.removeAll();
      }),
    close: async () => {
      stopChecks();
      await turns.over();
      direct.close();
      await fast.close();
      flows.close();
      elements.close();
      generation.close();
      lock.release();
    },
  };
}

function countsOf({ services }: FullState): KernelCounts {
  let endpoints = 0;
  for (const service of services.values()) endpoints += service.endpoints.length;
  return { services: services.size, endpoints };
}

function tellLimits(planner: Planner, told: readonly string[], log: Log): readonly string[] {
  const lines = limitLines(planner.limits());
  for (const line of lines) if (!told.includes(line)) log.warn({ backend: NAME }, line);
  return lines;
}

function statusOf(planner: Planner, direct: DirectKeeper, fast: FastKeeper): BackendStatus {
  const counts = planner.tables.map((table) => table.counts());
  const sum = (of: (one: (typeof counts)[number]) => number) =>
    counts.reduce((total, one) => total + of(one), 0);
  return {
    summary: `${sum(({ frontends }) => frontends)} addresses, ${sum(({ slots }) => slots)} slots, ${sum(({ chains }) => chains)} chains; ${direct.summary()}; ${fast.summary()}`,
    notHonoured: limitLines(planner.limits()),
  };
}
