import type { Sink } from "./sink.ts";

export interface PaceClock {
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

/**
 * Leaves time between syncs: after one, the next change is asked for only when `minIntervalMs` have
 * passed since its end. What changes meanwhile comes together.
 */
export function createPacedSink(inner: Sink, minIntervalMs: number, clock: PaceClock): Sink {
  let readyMs = Number.NEGATIVE_INFINITY;
  return {
    setup: () => inner.setup(),
    waitRequest: async () => {
      const waitMs = readyMs - clock.nowMs();
      if (waitMs > 0) await clock.sleep(waitMs);
      return inner.waitRequest();
    },
    reset: () => inner.reset(),
    send: (op) => {
      if (op.op !== "sync") return inner.send(op);
      return Promise.resolve(inner.send(op)).finally(() => {
        readyMs = clock.nowMs() + minIntervalMs;
      });
    },
  };
}
