import { histogramSamples } from "./histogram-samples.ts";
import type { MetricSample } from "./metric-family.ts";

/** Upper ends in seconds: kube-proxy's, each twice the one before. */
const BOUNDS: readonly number[] = Array.from({ length: 15 }, (_, index) => 0.001 * 2 ** index);

/** How long things took, in buckets from 1 ms to 16 s. */
export class Timings {
  readonly #counts = [...BOUNDS, Number.POSITIVE_INFINITY].map(() => 0);
  #sum = 0;
  #count = 0;

  took(seconds: number): void {
    this.#sum += seconds;
    this.#count += 1;
    const index = BOUNDS.findIndex((end) => seconds <= end);
    const bucket = index < 0 ? BOUNDS.length : index;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  get count(): number {
    return this.#count;
  }

  get sumSeconds(): number {
    return this.#sum;
  }

  samples(labels: MetricSample["labels"] = {}): readonly MetricSample[] {
    return histogramSamples({ bounds: BOUNDS, counts: this.#counts, sum: this.#sum }, labels);
  }
}
