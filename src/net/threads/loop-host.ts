import type { Log } from "../../core/log.ts";
import { raiseFileLimit } from "../../platform/linux/file-limit.ts";
import { exitNow } from "../../platform/linux/process-calls.ts";
import { ExitGuard } from "./exit-guard.ts";
import type { LoopThreadHost } from "./loop-thread.ts";
import { WakePool } from "./wake-pool.ts";

/**
 * What the loops of this process share; made once, by the main thread. From then on the process ends
 * however its loops are blocked, and it may have as many descriptors as the system lets it.
 */
export function createLoopHost(log: Log): LoopThreadHost {
  const maxDescriptors = raiseFileLimit();
  return {
    log,
    maxDescriptors,
    wakes: new WakePool(),
    guard: new ExitGuard({ events: process, exitNow, nowMs: () => performance.now() }),
  };
}
