import { setTimeout as delay } from "node:timers/promises";
import type { PaceClock } from "../core/sinks/paced.ts";

export interface KernelClock extends PaceClock {
  /** Calls what never rejects again and again; keeps no process alive. @returns what ends that */
  every(periodMs: number, act: () => Promise<void>): () => void;
}

export const SYSTEM_CLOCK: KernelClock = {
  nowMs: () => performance.now(),
  sleep: (ms) => delay(ms),
  every: (periodMs, act) => {
    const timer = setInterval(() => void act(), periodMs);
    timer.unref();
    return () => clearInterval(timer);
  },
};
