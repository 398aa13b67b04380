import type { Sink } from "../../core/sinks/sink.ts";
import type { MetricFamily, MetricSample } from "../metric-family.ts";

/** Upper ends in seconds: kube-proxy's, each twice the one before. */
const BUCKETS: readonly number[] = Array.from({ length: 15 }, (_, index) => 0.001 * 2 ** index);
const MS_IN_SECOND = 1000;

/** How long changes take from when they are told to when the kernel follows them. */
export class ChangeTimes {
  readonly #nowMs: () => number;
  readonly #counts = BUCKETS.map(() => 0);
  #count = 0;
  #sinceMs: number | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The same sink, with the time of each change taken; one that fails goes on until it is through. */
  watch(sink: Sink): Sink {
    return {
      setup: () => sink.setup(),
      waitRequest: () => sink.waitRequest(),
      reset: () => sink.reset(),
      send: (op) => {
        this.#sinceMs ??= this.#nowMs();
        const sent = sink.send(op);
        return op.op === "sync" ? Promise.resolve(sent).then(() => this.#applied()) : sent;
      },
    };
  }

  metrics(): MetricFamily {
    let sum = 0;
    const buckets = BUCKETS.map((end, index): MetricSample => {
      sum += this.#counts[index] ?? 0;
      return { suffix: "_bucket", labels: { le: String(end) }, value: sum };
    });
    return {
      name: "nftables_change_to_kernel_seconds",
      help: "From when a change was told to when the kernel follows it.",
      kind: "histogram",
      samples: [
        ...buckets,
        { suffix: "_bucket", labels: { le: "+Inf" }, value: this.#count },
        { suffix: "_count", labels: {}, value: this.#count },
      ],
    };
  }

  #applied(): void {
    if (this.#sinceMs === undefined) return;
    const seconds = (this.#nowMs() - this.#sinceMs) / MS_IN_SECOND;
    this.#sinceMs = undefined;
    this.#count += 1;
    const index = BUCKETS.findIndex((end) => seconds <= end);
    if (index >= 0) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }
}
