import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { EdgeNetwork } from "../../edge/environment/edge-network.ts";
import type { EnvironmentManager } from "../../edge/environment/environment-manager.ts";

/** Changes come in crowds: one look for all of them. */
const SETTLE_MS = 50;
/** Rules that others removed are told by nobody. */
const PERIOD_MS = 10_000;

/** Has the environment look at the kernel whenever links change, when asked, and every now and then. */
export function keepRight(
  manager: Pick<EnvironmentManager, "reconcile">,
  network: Pick<EdgeNetwork, "watch">,
  log: Log,
): { look(): void; close(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;
  let isWanted = false;
  let isClosed = false;
  const look = async (): Promise<void> => {
    timer = undefined;
    if (isLooking) {
      isWanted = true;
      return;
    }
    isLooking = true;
    try {
      await manager.reconcile();
    } catch (error) {
      log.error(
        { err: error },
        `the network of this node is not as it should be: ${messageOf(error)}`,
      );
    } finally {
      isLooking = false;
    }
    if (isWanted) {
      isWanted = false;
      schedule();
    }
  };
  const schedule = (): void => {
    if (isClosed) return;
    timer ??= setTimeout(() => void look(), SETTLE_MS);
  };
  const watch = network.watch(schedule);
  const period = setInterval(schedule, PERIOD_MS);
  return {
    look: schedule,
    close: () => {
      isClosed = true;
      watch.close();
      clearInterval(period);
      clearTimeout(timer);
    },
  };
}
