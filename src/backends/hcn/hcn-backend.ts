import type { ValuesOf } from "../../core/options/option-spec.ts";
import { createFullStateSink, type FullState } from "../../core/sinks/fullstate.ts";
import { createPacedSink } from "../../core/sinks/paced.ts";
import { Turns } from "../../core/turns.ts";
import type { SetName } from "../../core/view/ops.ts";
import { Hcn } from "../../platform/windows/hcn.ts";
import type { HcnNotice } from "../../platform/windows/hcn-calls.ts";
import type { InstanceLock } from "../../platform/windows/instance-lock.ts";
import { MeteredCalls } from "../../platform/windows/metered-calls.ts";
import type { Backend, BackendContext, BackendStatus } from "../backend.ts";
import { ChangeTimes } from "../change-times.ts";
import { limitLines } from "../limit-lines.ts";
import { tellInKernel } from "../tell-in-kernel.ts";
import { hcnMetrics } from "./hcn-metrics.ts";
import { HcnSync } from "./hcn-sync.ts";
import { NoticeWatch } from "./notice-watch.ts";
import type { HCN_OPTIONS } from "./options.ts";
import { removeOwnObjects } from "./remove-own.ts";
import { type HcnSettings, networkNameOf, settingsOf } from "./settings.ts";
import type { HcnWorld } from "./world.ts";

const NAME = "hcn";

/** What it needs to know beyond services and endpoints: the node's own addresses. */
export const HCN_SETS: readonly SetName[] = ["nodes"];

/**
 * Takes the only place of its kind on the machine; nothing is programmed before the first state comes.
 * @throws CoreError ERR_CONFIG_INVALID, or ERR_NOT_POSSIBLE_HERE where another instance runs
 */
export async function createHcnBackend(
  options: ValuesOf<typeof HCN_OPTIONS>,
  context: BackendContext,
  world: HcnWorld,
): Promise<Backend> {
  const networkName = context.isForCleanup === true ? "" : networkNameOf(options);
  const settings = settingsOf(options, networkName);
  const lock = await world.takeLock();
  try {
    const calls = new MeteredCalls(await world.openCalls());
    const { minSyncPeriod } = options;
    return await openBackend({ settings, minSyncPeriod, calls, lock, context, world });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

interface BackendParts {
  readonly settings: HcnSettings;
  readonly minSyncPeriod: number;
  readonly calls: MeteredCalls;
  readonly lock: InstanceLock;
  readonly context: BackendContext;
  readonly world: HcnWorld;
}

async function openBackend({
  settings,
  minSyncPeriod,
  calls,
  lock,
  context: { nodeName, log, onRepair, onRepairing, isForCleanup },
  world: { clock, macOf },
}: BackendParts): Promise<Backend> {
  const hcn = new Hcn(calls);
  const sync = new HcnSync({ hcn, settings, nodeName, macOf, log });
  const times = new ChangeTimes(NAME, () => clock.nowMs());
  const turns = new Turns();
  let isWatching = false;
  let isClosed = false;
  let told: readonly string[] = [];

  const apply = async (state: FullState, changed: Parameters<HcnSync["apply"]>[1]) => {
    const isFirst = !isWatching;
    isWatching = true;
    await sync.apply(state, changed);
    onRepair?.(undefined);
    if (isFirst)
      tellInKernel(NAME, { services: state.services.size, endpoints: endpointsIn(state) }, log);
    const lines = limitLines(sync.limits());
    for (const line of lines) if (!told.includes(line)) log.warn({ backend: NAME }, line);
    told = lines;
  };
  const look = (act: () => Promise<void>) => async (): Promise<void> => {
    if (!isWatching || isClosed) return;
    onRepairing?.();
    await notices.ensure();
    try {
      await act();
      onRepair?.(undefined);
    } catch (error) {
      log.error({ err: error }, "HNS could not be brought to what it should hold");
      onRepair?.(error);
    }
  };
  const check = look(() => sync.check());
  const onNotice = ({ what }: HcnNotice): void => {
    if (what !== "endpoint-attached") {
      log.warn({ backend: NAME, what }, `HNS says ${what}: everything is looked at again`);
      sync.distrust();
    }
    void turns.take(check);
  };
  const notices = new NoticeWatch(hcn, onNotice, log);
  if (!isForCleanup) await notices.ensure();
  const stops = isForCleanup
    ? []
    : [
        clock.every(settings.syncPeriodMs, () => turns.take(check)),
        clock.every(settings.fullCheckPeriodMs, () => turns.take(look(() => sync.fullCheck()))),
      ];

  const sink = createFullStateSink({
    waitRequest: () => ({ nodeName, sets: HCN_SETS }),
    apply: (state, changed) => turns.take(() => apply(state, changed)),
  });
  return {
    sink: createPacedSink(times.watch(sink), minSyncPeriod, clock),
    status: () => statusOf(sync),
    metrics: () => [...hcnMetrics(sync, calls), times.metrics()],
    drain: async () => undefined,
    cleanup: () =>
      turns.take(async () => {
        isWatching = false;
        sync.forget();
        await removeOwnObjects(hcn);
      }),
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      for (const stop of stops) stop();
      await turns.over();
      await hcn.close();
      await lock.release();
    },
  };
}

function endpointsIn({ services }: FullState): number {
  let count = 0;
  for (const { endpoints } of services.values()) count += endpoints.length;
  return count;
}

function statusOf(sync: HcnSync): BackendStatus {
  const { endpointStore, loadBalancerStore } = sync.stores;
  const { network, version } = sync.reading ?? {};
  const where =
    network === undefined || version === undefined
      ? "HNS is not read"
      : `on ${network.name} (${network.type}, HNS ${version.major}.${version.minor})`;
  return {
    summary: `${loadBalancerStore.size} load balancers, ${endpointStore.size} remote endpoints, ${where}`,
    notHonoured: limitLines(sync.limits()),
  };
}
