import { median } from "./measure.ts";

/** From the least to the most that something may be. */
export type Interval = readonly [least: number, most: number];

/** A median, and where that of all such values is with 95 % certainty. */
export interface SureMedian {
  readonly value: number;
  readonly interval: Interval;
}

/** Of a normal distribution: what 95 % of it are within, in standard deviations. */
const DEVIATIONS = 1.96;

/**
 * By order statistics, whatever the values are distributed like: how many of n lie below the true median is
 * distributed like n tosses of a coin. Of five and fewer nothing is 95 % sure: all of them are told.
 */
export function medianWithInterval(values: readonly number[]): SureMedian {
  const sorted = [...values].sort((a, b) => a - b);
  const last = sorted.length - 1;
  const spread = (DEVIATIONS * Math.sqrt(sorted.length)) / 2;
  const from = Math.max(0, Math.floor(sorted.length / 2 - spread) - 1);
  const value = median(sorted);
  return { value, interval: [sorted[from] ?? value, sorted[last - from] ?? value] };
}
