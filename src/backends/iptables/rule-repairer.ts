import type { Log } from "../../core/log.ts";
import type { Family } from "../../core/model/address.ts";
import type { BackendContext } from "../backend.ts";
import { joinFailures } from "../join-failures.ts";
import type { KernelClock } from "../kernel-clock.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { FamilyProxier, RepairReport } from "./family-proxier.ts";
import type { SyncMetrics } from "./sync-metrics.ts";

const BACKEND = { backend: "iptables" } as const;

export interface RepairedRules {
  readonly proxiers: ReadonlyMap<Family, FamilyProxier>;
  readonly watch: ChangeWatch;
  readonly metrics: SyncMetrics;
  readonly log: Log;
}

export interface RepairRounds {
  readonly clock: Pick<KernelClock, "every">;
  readonly periodMs: number;
  readonly repair: () => Promise<void>;
  readonly context: Pick<BackendContext, "log" | "onRepair" | "onRepairing">;
}

/**
 * Repairs once in each period. One that fails is told; the next period tries again.
 * @returns what ends that
 */
export function repairEvery(rounds: RepairRounds): () => void {
  const { clock, periodMs, repair, context } = rounds;
  return clock.every(periodMs, async () => {
    context.onRepairing?.();
    try {
      await repair();
      context.onRepair?.(undefined);
    } catch (error) {
      context.log.error({ ...BACKEND, err: error }, "rules could not be looked at or put right");
      context.onRepair?.(error);
    }
  });
}

/**
 * Puts right what others altered, and makes writes that failed. A family that fails does not hold up
 * the other.
 * @throws CoreError ERR_SYNC_FAILED
 */
export async function repairRules({ proxiers, watch, metrics, log }: RepairedRules): Promise<void> {
  const isOwing = [...proxiers.values()].some((proxier) => proxier.isOwing);
  if (!isOwing && (await watch.isUntouched())) return;
  await watch.begin();
  const failures: unknown[] = [];
  for (const [family, proxier] of proxiers) {
    try {
      const report = await proxier.repair();
      if (report.lines === 0) continue;
      metrics.repaired(report.lines);
      tell(family, report, log);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw joinFailures("ERR_SYNC_FAILED", failures);
}

function tell(family: Family, { wasOwed, lines, sample }: RepairReport, log: Log): void {
  const what = { ...BACKEND, family, lines, differed: sample };
  log.warn(
    what,
    wasOwed
      ? "rules that could not be written before are written"
      : "rules were altered by others, and put right",
  );
}
