import { expect, test } from "vitest";
import { CounterBlocks, LoopRows } from "./counter-blocks.ts";
import { LATENCY_BOUNDS_MS, latencyBucket } from "./latency-buckets.ts";

function loopsOf(blocks: CounterBlocks, count: number): LoopRows[] {
  return Array.from({ length: count }, (_, index) => {
    const rows = new LoopRows(index);
    for (const block of blocks.blocks) rows.addBlock(block);
    return rows;
  });
}

test("what all loops count is summed up, and each sees the others", () => {
  const blocks = new CounterBlocks(2);
  const row = blocks.take();
  const [first, second] = loopsOf(blocks, 2);
  first?.row(row).opened();
  second?.row(row).opened();
  second?.row(row).closed();
  second?.row(row).moved(5, 7);
  first?.row(row).failed();
  expect(blocks.counts(row)).toEqual({
    connections: 1,
    totalConnections: 2,
    bytesIn: 5,
    bytesOut: 7,
    failures: 1,
  });
  expect(second?.connectionsElsewhere(row)).toBe(1);
  expect(first?.connectionsElsewhere(row)).toBe(0);
});

test("checks are summed up by how they ended, apart from everything else", () => {
  const blocks = new CounterBlocks(2);
  const row = blocks.take();
  const [first, second] = loopsOf(blocks, 2);
  first?.row(row).checked(true);
  second?.row(row).checked(true);
  second?.row(row).checked(false);
  expect(blocks.checks(row)).toEqual({ ok: 2, failed: 1 });
  expect(blocks.counts(row)).toMatchObject({ totalConnections: 0, failures: 0 });
  expect(blocks.latency(row).counts.every((count) => count === 0)).toBe(true);
  blocks.giveBack(row);
  expect(blocks.checks(blocks.take())).toEqual({ ok: 0, failed: 0 });
});

test("rows of different things do not touch, over many blocks", () => {
  const blocks = new CounterBlocks(2);
  const rows = Array.from({ length: 600 }, () => blocks.take());
  expect(blocks.blocks.length).toBe(2 * 3);
  const [loop] = loopsOf(blocks, 1);
  for (const row of rows) loop?.row(row).moved(row, 0);
  expect(rows.every((row) => blocks.counts(row).bytesIn === row)).toBe(true);
});

test("a loop that comes later has all rows, and the others see it", () => {
  const blocks = new CounterBlocks(1);
  const row = blocks.take();
  const [first] = loopsOf(blocks, 1);
  const known = blocks.blocks.length;
  blocks.ensureLoops(2);
  for (const block of blocks.blocks.slice(known)) first?.addBlock(block);
  loopsOf(blocks, 2)[1]?.row(row).opened();
  expect(first?.connectionsElsewhere(row)).toBe(1);
  expect(blocks.counts(row).connections).toBe(1);
});

test("a row that is used again begins at 0; a loop that ended has nothing open", () => {
  const blocks = new CounterBlocks(1);
  const row = blocks.take();
  loopsOf(blocks, 1)[0]?.row(row).opened();
  blocks.loopEnded(0);
  expect(blocks.counts(row)).toMatchObject({ connections: 0, totalConnections: 1 });
  blocks.giveBack(row);
  expect(blocks.take()).toBe(row);
  expect(blocks.counts(row).totalConnections).toBe(0);
});

test("latencies are summed up over loops, and forgotten with their row", () => {
  const blocks = new CounterBlocks(2);
  const row = blocks.take();
  for (const [index, loop] of loopsOf(blocks, 2).entries()) loop.row(row).tookMs(index + 1.5);
  expect(blocks.latency(row).sumMs).toBe(4);
  blocks.giveBack(row);
  expect(blocks.latency(blocks.take()).sumMs).toBe(0);
});

test("a row in no known block is an error by its number", () => {
  expect(() => new LoopRows(0).row(7)).toThrow("row 7");
});

test.each([0, 0.05, 0.0625, 0.07, 1, 1.5, 900, 16_384, 16_385, 1e9])(
  "%d ms is in the first bucket whose bound holds it",
  (latencyMs) => {
    const bucket = latencyBucket(latencyMs);
    expect(latencyMs).toBeLessThanOrEqual(LATENCY_BOUNDS_MS[bucket] ?? Number.NaN);
    expect(latencyMs).toBeGreaterThan(LATENCY_BOUNDS_MS[bucket - 1] ?? -1);
  },
);
