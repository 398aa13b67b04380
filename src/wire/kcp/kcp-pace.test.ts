import { expect, test } from "vitest";
import { type Bottleneck, sendThrough } from "./bottleneck.fixture.ts";

const SECONDS = 5;
const LINE: Bottleneck = { lossRate: 0, megabits: 20, queueMs: 100, rttMs: 100, tickMs: 1 };

test("a path that loses nothing is used up", () => {
  const { megabits, sentShare } = sendThrough(LINE, SECONDS);
  expect(megabits).toBeGreaterThan(16);
  expect(sentShare).toBeLessThan(1.2);
});

test.each([
  [0.01, 15],
  [0.05, 14],
  [0.2, 10],
])("a path that loses %d is used up", (lossRate, least) => {
  expect(sendThrough({ ...LINE, lossRate }, SECONDS).megabits).toBeGreaterThan(least);
});

test.each([0.05, 0.2, 0.3])(
  "what is sent again is what was lost, and little more, where %d is",
  (lossRate) => {
    const { lostPackets, resentSegments } = sendThrough({ ...LINE, lossRate }, SECONDS);
    expect(lostPackets).toBeGreaterThan(200);
    expect(resentSegments).toBeLessThan(1.1 * lostPackets);
  },
);

test("timers that are late are made up for", () => {
  const { megabits } = sendThrough({ ...LINE, lossRate: 0.05, tickMs: 7 }, SECONDS);
  expect(megabits).toBeGreaterThan(14);
});

test.each([0, 0.05])(
  "a short queue that overflows is not flooded for it, where %d is lost besides",
  (lossRate) => {
    const { megabits, sentShare } = sendThrough({ ...LINE, queueMs: 20, lossRate }, 2 * SECONDS);
    expect(megabits).toBeGreaterThan(15);
    expect(sentShare).toBeLessThan(1.25);
  },
);

test.each([
  [0, 28],
  [0.01, 27],
  [0.05, 14],
  [0.2, 0],
])(
  "the start hears of the queue before it overfills it, where %d is lost: %d packets overflow",
  (lossRate, count) => {
    // As long as the path itself; the start in flight is twice that, and 32 segments.
    const { overflowedPackets, doubledSegments } = sendThrough({ ...LINE, lossRate }, SECONDS);
    expect(overflowedPackets).toBe(count);
    expect(doubledSegments).toBeLessThanOrEqual(3);
  },
);

test.each([0.01, 0.05, 0.2])("where %d is lost no queue stands for it", (lossRate) => {
  expect(sendThrough({ ...LINE, lossRate }, SECONDS).meanQueueMs).toBeLessThan(15);
});

test.each([
  [0.01, 1.12],
  [0.05, 1.16],
  [0.2, 1.45],
])("where %d is lost a line takes at most %d bytes for each of the payload", (lossRate, most) => {
  expect(sendThrough({ ...LINE, lossRate }, SECONDS).sentShare).toBeLessThan(most);
});

test("the round that sends less ends when the queue is gone", () => {
  const { megabits } = sendThrough(LINE, 2 * SECONDS);
  // 20 Mbit/s less the headers are 18.87, and the start is in it.
  expect(megabits).toBeGreaterThan(18.35);
});
