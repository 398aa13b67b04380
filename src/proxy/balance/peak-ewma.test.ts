import { expect, test } from "vitest";
import { PeakEwma } from "./peak-ewma.ts";

test("a rise counts at once, a fall slowly", () => {
  const latency = new PeakEwma(10_000);
  expect(latency.isObserved).toBe(false);
  latency.observe(10, 0);
  expect(latency.valueMs(0)).toBe(10);
  latency.observe(100, 0);
  expect(latency.valueMs(0)).toBe(100);
  latency.observe(10, 1000);
  expect(latency.valueMs(1000)).toBeCloseTo(100 * Math.exp(-0.1) + 10 * (1 - Math.exp(-0.1)));
});

test("without observations it fades", () => {
  const latency = new PeakEwma(10_000);
  latency.observe(100, 0);
  expect(latency.valueMs(10_000)).toBeCloseTo(100 / Math.E);
  expect(latency.valueMs(1_000_000)).toBeLessThan(0.001);
});

test("a clock that steps back does no harm", () => {
  const latency = new PeakEwma(10_000);
  latency.observe(10, 1000);
  expect(latency.valueMs(0)).toBe(10);
});
