import type { Sink } from "../core/sinks/sink.ts";
import { histogramSamples } from "./histogram-samples.ts";
import type { MetricFamily } from "./metric-family.ts";

/** Upper ends in seconds: kube-proxy's, each twice the one before. */
const BOUNDS: readonly number[] = Array.from({ length: 15 }, (_, index) => 0.001 * 2 ** index);
const MS_PER_SECOND = 1000;

/** How long changes take from when they are told to when the kernel follows them. */
export class ChangeTimes {
  readonly #backend: string;
  readonly #nowMs: () => number;
  readonly #counts = [...BOUNDS, Number.POSITIVE_INFINITY].map(() => 0);
  #sum = 0;
  /** When the first word came of what the kernel does not follow yet, by set and path. */
  readonly #sinceMs = new Map<string, number>();

  constructor(backend: string, nowMs: () => number) {
    this.#backend = backend;
    this.#nowMs = nowMs;
  }

  /** The same sink, with the time of each change taken; one that fails goes on until it is through. */
  watch(sink: Sink): Sink {
    return {
      setup: () => sink.setup(),
      waitRequest: () => sink.waitRequest(),
      reset: () => sink.reset(),
      send: (op) => {
        if (op.op === "sync") return Promise.resolve(sink.send(op)).then(() => this.#applied());
        const key = `${op.set} ${op.path}`;
        if (!this.#sinceMs.has(key)) this.#sinceMs.set(key, this.#nowMs());
        return sink.send(op);
      },
    };
  }

  metrics(): MetricFamily {
    return {
      name: `${this.#backend}_change_to_kernel_seconds`,
      help: "From when a change was told to when the kernel follows it.",
      kind: "histogram",
      samples: histogramSamples({ bounds: BOUNDS, counts: this.#counts, sum: this.#sum }),
    };
  }

  #applied(): void {
    const nowMs = this.#nowMs();
    for (const sinceMs of this.#sinceMs.values()) this.#took((nowMs - sinceMs) / MS_PER_SECOND);
    this.#sinceMs.clear();
  }

  #took(seconds: number): void {
    this.#sum += seconds;
    const index = BOUNDS.findIndex((end) => seconds <= end);
    const bucket = index < 0 ? BOUNDS.length : index;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }
}
