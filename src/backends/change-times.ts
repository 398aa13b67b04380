import type { MetricFamily } from "../core/metrics/metric-family.ts";
import { Timings } from "../core/metrics/timings.ts";
import type { Sink } from "../core/sinks/sink.ts";

const MS_PER_SECOND = 1000;

/** How long changes take from when they are told to when the kernel follows them. */
export class ChangeTimes {
  readonly #backend: string;
  readonly #nowMs: () => number;
  readonly #timings = new Timings();
  /** When the first word came of what the kernel does not follow yet, by set and path. */
  readonly #sinceMs = new Map<string, number>();
  /** When the whole state began to be told; undefined between a sync and the next reset. */
  #wholeSinceMs: number | undefined;

  constructor(backend: string, nowMs: () => number) {
    this.#backend = backend;
    this.#nowMs = nowMs;
  }

  /** The same sink, with the time of each change taken; one that fails goes on until it is through. */
  watch(sink: Sink): Sink {
    return {
      setup: () => sink.setup(),
      waitRequest: () => sink.waitRequest(),
      reset: () => {
        // One look at the clock for the whole state: there may be 100,000 words of it.
        this.#wholeSinceMs = this.#nowMs();
        sink.reset();
      },
      send: (op) => {
        if (op.op === "sync") {
          this.#wholeSinceMs = undefined;
          return Promise.resolve(sink.send(op)).then(() => this.#applied());
        }
        const key = `${op.set} ${op.path}`;
        if (!this.#sinceMs.has(key)) this.#sinceMs.set(key, this.#wholeSinceMs ?? this.#nowMs());
        return sink.send(op);
      },
    };
  }

  metrics(): MetricFamily {
    return {
      name: `${this.#backend}_change_to_kernel_seconds`,
      help: "From when a change was told to when the kernel follows it.",
      kind: "histogram",
      samples: this.#timings.samples(),
    };
  }

  #applied(): void {
    const nowMs = this.#nowMs();
    for (const sinceMs of this.#sinceMs.values()) {
      this.#timings.took((nowMs - sinceMs) / MS_PER_SECOND);
    }
    this.#sinceMs.clear();
  }
}
