import type { MetricSample } from "./metric-family.ts";

/** What was seen, in buckets that do not hold what is in those below them. */
export interface Histogram {
  /** Upper ends, ascending. */
  readonly bounds: readonly number[];
  /** One for each bound; a last one for what was above them all. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** As Prometheus wants them: buckets that add up, then the sum and the number of all. */
export function histogramSamples(
  { bounds, counts, sum }: Histogram,
  labels: MetricSample["labels"] = {},
): readonly MetricSample[] {
  let count = 0;
  const buckets = [...bounds.map(String), "+Inf"].map((le, index): MetricSample => {
    count += counts[index] ?? 0;
    return { suffix: "_bucket", labels: { ...labels, le }, value: count };
  });
  return [
    ...buckets,
    { suffix: "_sum", labels, value: sum },
    { suffix: "_count", labels, value: count },
  ];
}
