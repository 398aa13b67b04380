import { expect, test } from "vitest";
import { RECORD } from "./layout.ts";
import { REST_MS, RecordPool } from "./record-pool.ts";

test("a record rests before another session has it, and counts from 0 then", () => {
  let nowMs = 0;
  const pool = new RecordPool(new ArrayBuffer(2 * RECORD.bytes), 2, () => nowMs);
  const [first, second] = [pool.take(), pool.take()];
  expect([first?.number, second?.number, pool.take()]).toEqual([0, 1, undefined]);
  first?.give();
  first?.take(3);
  if (first !== undefined) pool.giveBack(first);
  nowMs = REST_MS - 1;
  expect(pool.take()).toBeUndefined();
  nowMs = REST_MS;
  const next = pool.take();
  expect([next?.number, next?.given, next?.isNew(3), next?.greatest]).toEqual([0, 0, true, -1]);
});

test("who had a record and still counts does not count in another one's", () => {
  let nowMs = 0;
  const pool = new RecordPool(new ArrayBuffer(RECORD.bytes), 1, () => nowMs);
  const first = pool.take();
  if (first !== undefined) pool.giveBack(first);
  nowMs = REST_MS;
  const next = pool.take();
  first?.give();
  first?.take(0);
  expect([next?.given, next?.greatest]).toEqual([0, -1]);
});
