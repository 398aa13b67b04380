import { expect, test } from "vitest";
import { type Cursor, History } from "./history.ts";

function step(history: History<string>, befores: Record<string, string>): void {
  history.record(new Map(Object.entries(befores)));
}

function seen(cursor: Cursor<string>): Record<string, string> | undefined {
  const befores = cursor.advance();
  return befores && Object.fromEntries(befores);
}

test("a watcher gets, as one step, the values of the place where it stood", () => {
  const history = new History<string>(100);
  const early = history.cursor();
  step(history, { a: "a0" });
  const late = history.cursor();
  step(history, { a: "a1", b: "b0" });
  expect(seen(late)).toEqual({ a: "a1", b: "b0" });
  expect(seen(early)).toEqual({ a: "a0", b: "b0" });
  expect(seen(early)).toEqual({});
});

test("of a key that changed twice a watcher gets the older value, while another stands between", () => {
  const history = new History<string>(100);
  const early = history.cursor();
  step(history, { a: "a0" });
  const between = history.cursor();
  step(history, { a: "a1" });
  expect(seen(early)).toEqual({ a: "a0" });
  expect(seen(between)).toEqual({ a: "a1" });
});

test("what every watcher has seen is forgotten", () => {
  const history = new History<string>(100);
  const one = history.cursor();
  const two = history.cursor();
  step(history, { a: "a0" });
  one.advance();
  expect(history.size).toBe(1);
  two.advance();
  expect(history.size).toBe(0);
  step(history, { a: "a1" });
  one.advance();
  two.close();
  expect(history.size).toBe(0);
});

test("nothing is kept for nobody", () => {
  const history = new History<string>(100);
  expect(history.isWatched).toBe(false);
  step(history, { a: "a0" });
  expect(history.size).toBe(0);
  expect(seen(history.cursor())).toEqual({});
});

test("a watcher that stopped holds one old value a key, however often it changes", () => {
  const history = new History<string>(100);
  const stopped = history.cursor();
  const reading = history.cursor();
  for (let round = 0; round < 1000; round += 1) {
    step(history, { a: `a${round}`, b: `b${round}` });
    if (round % 10 === 0) reading.advance();
  }
  reading.advance();
  expect(history.size).toBeLessThanOrEqual(4);
  expect(seen(stopped)).toEqual({ a: "a0", b: "b0" });
});

test("one that lags beyond the limit is told so once, and goes on from there", () => {
  const history = new History<string>(10);
  const stopped = history.cursor();
  const reading = history.cursor();
  for (let round = 0; round < 50; round += 1) {
    step(history, { [`key-${round}`]: "old" });
    reading.advance();
  }
  expect(history.size).toBeLessThanOrEqual(11);
  expect(seen(stopped)).toBeUndefined();
  expect(seen(stopped)).toEqual({});
  step(history, { z: "z0" });
  expect(seen(stopped)).toEqual({ z: "z0" });
});

test("one step larger than the limit is given whole to those who are up to date", () => {
  const history = new History<string>(10);
  const cursor = history.cursor();
  const large = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`key-${n}`, "old"]));
  step(history, large);
  expect(seen(cursor)).toEqual(large);
});

test("a large step is kept while most watchers still need it", () => {
  const history = new History<string>(10);
  const cursors = Array.from({ length: 100 }, () => history.cursor());
  const large = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`key-${n}`, "old"]));
  step(history, large);
  step(history, { other: "o0" });
  for (const cursor of cursors) expect(seen(cursor)).toEqual({ ...large, other: "o0" });
});

test("memory is bounded even when every watcher stops", () => {
  const history = new History<string>(10);
  const cursors = Array.from({ length: 100 }, () => history.cursor());
  for (let round = 0; round < 1000; round += 1) step(history, { [`key-${round}`]: "old" });
  expect(history.size).toBeLessThanOrEqual(10 * 20 + 10);
  expect(cursors.every((cursor) => cursor.advance() === undefined)).toBe(true);
});
