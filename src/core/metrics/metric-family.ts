/** One number of a family. */
export interface MetricSample {
  /** What a part of a histogram adds to the name of its family. */
  readonly suffix?: "_bucket" | "_sum" | "_count";
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Numbers of a data plane that mean the same, told apart by labels. */
export interface MetricFamily {
  /** Without `portolan_`, with the unit in it: `listener_bytes_in_total`. */
  readonly name: string;
  readonly help: string;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly samples: readonly MetricSample[];
}
