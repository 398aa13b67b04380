import type { Sink } from "../core/sinks/sink.ts";

export interface SinkMeter {
  readonly nowSeconds: () => number;
  countOps(set: string, op: "set" | "delete", count: number): void;
  countFailure(): void;
  observeSync(seconds: number): void;
}

/** The same sink; tells the meter at each sync, so that an operation costs a plain addition. */
export function meterSink(sink: Sink, meter: SinkMeter): Sink {
  const counts = { set: new Map<string, number>(), delete: new Map<string, number>() };
  const flush = (): void => {
    for (const op of ["set", "delete"] as const) {
      for (const [set, count] of counts[op]) meter.countOps(set, op, count);
      counts[op].clear();
    }
  };
  const sync = async (): Promise<void> => {
    const beganSeconds = meter.nowSeconds();
    try {
      await sink.send({ op: "sync" });
    } catch (error) {
      meter.countFailure();
      throw error;
    } finally {
      meter.observeSync(meter.nowSeconds() - beganSeconds);
    }
  };
  return {
    setup: () => sink.setup(),
    waitRequest: () => sink.waitRequest(),
    reset: () => sink.reset(),
    send: (op) => {
      if (op.op === "sync") {
        flush();
        return sync();
      }
      const byset = counts[op.op];
      byset.set(op.set, (byset.get(op.set) ?? 0) + 1);
      return sink.send(op);
    },
  };
}
