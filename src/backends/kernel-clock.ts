import { setTimeout as delay } from "node:timers/promises";
import type { PaceClock } from "../core/sinks/paced.ts";

export interface KernelClock extends PaceClock {
  /**
   * Calls what never rejects once in each period, unless the last call still goes on; keeps no process
   * alive.
   * @returns what ends that
   */
  every(periodMs: number, act: () => Promise<void>): () => void;
}

export const SYSTEM_CLOCK: KernelClock = {
  nowMs: () => performance.now(),
  sleep: (ms) => delay(ms),
  every: (periodMs, act) => {
    let isUnderWay = false;
    const round = async (): Promise<void> => {
      if (isUnderWay) return;
      isUnderWay = true;
      await act();
      isUnderWay = false;
    };
    const timer = setInterval(() => void round(), periodMs);
    timer.unref();
    return () => clearInterval(timer);
  },
};
