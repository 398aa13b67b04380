import { expect, test } from "vitest";
import { RateModel } from "./rate-model.ts";
import { RttEstimator } from "./rtt-estimator.ts";

const SEGMENT_BYTES = 1000;

test("rounds that can not be measured take nothing from the rate", () => {
  const rtt = new RttEstimator({ minRtoMs: 30, intervalMs: 5 });
  const model = new RateModel(rtt, SEGMENT_BYTES);
  let delivered = 0;
  const round = (rate: number, nowMs: number): void => {
    const deliveredAtSend = delivered;
    delivered += SEGMENT_BYTES;
    const counted = { delivered, deliveredAtSend, lostBytes: 0, flyingBytes: 0 };
    model.onAcknowledged({ rate, isAppLimited: false, nowMs, ...counted });
  };
  for (let at = 0; at < 20; at += 1) {
    rtt.sample(10, at * 10);
    round(100, at * 10);
  }
  const before = model.pacingRate;
  expect(before).toBeGreaterThan(20);
  for (let at = 20; at < 60; at += 1) {
    round(0, at * 10);
    expect(model.pacingRate).toBeGreaterThan(before / 4);
  }
});
