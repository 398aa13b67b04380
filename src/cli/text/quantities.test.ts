import { expect, test } from "vitest";
import { formatBytes, formatCount, formatDuration, formatMs, formatRate } from "./quantities.ts";

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1234, "1.2 kB"],
  [99_940, "99.9 kB"],
  [999_999, "1.0 MB"],
  [340_000_000, "340 MB"],
])("%d bytes are %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  [17, "17"],
  [999.4, "999"],
  [12_345, "12.3k"],
  [3_400_000, "3.4M"],
])("%d is %s", (count, text) => {
  expect(formatCount(count)).toBe(text);
});

test.each([
  [0, "0"],
  [0.25, "0.3"],
  [9.5, "9.5"],
  [1200, "1.2k"],
])("%d a second is %s", (rate, text) => {
  expect(formatRate(rate)).toBe(text);
});

test.each([
  [12.9, "12 s"],
  [192, "3 min 12 s"],
  [7500, "2 h 5 min"],
  [356_400, "4 d 3 h"],
])("%d seconds are %s", (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});

test("milliseconds", () => {
  expect([0.44, 12.3].map(formatMs)).toEqual(["0.4 ms", "12 ms"]);
});
