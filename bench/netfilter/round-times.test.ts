import { expect, test } from "vitest";
import { parseRounds, shareOf } from "./round-times.ts";

const WAYS = ["plain", "services", "rule"] as const;
const ROUNDS = parseRounds("20.000 25.000 40.000\n30.000 30.000 40.000\n18.000 20.000 40.000\n", [
  ...WAYS,
]);

test("reads a time for each way and round", () => {
  expect(ROUNDS.map((times) => [...times])).toEqual([
    [
      ["plain", 20],
      ["services", 25],
      ["rule", 40],
    ],
    [
      ["plain", 30],
      ["services", 30],
      ["rule", 40],
    ],
    [
      ["plain", 18],
      ["services", 20],
      ["rule", 40],
    ],
  ]);
});

test.each(["", "20.000 25.000", "20.000 25.000 none", "20.000 25.000 0.000", "1 2 3 4"])(
  "refuses %j in place of a round",
  (line) => {
    expect(() => parseRounds(`20 25 40\n${line}\n20 25 40\n`, WAYS)).toThrow(
      `"${line}" has no time for each of plain, services, rule`,
    );
  },
);

test("a share is that of requests in the same time, of the round in the middle", () => {
  expect(shareOf(ROUNDS, "services", "plain")).toEqual({ value: 0.9, interval: [0.8, 1] });
  expect(shareOf(ROUNDS, "plain", "services")).toEqual({ value: 20 / 18, interval: [1, 1.25] });
});

test("a way that was not measured has none", () => {
  const rounds = parseRounds("20.000\n", ["plain"]);
  expect(shareOf<"plain" | "rule">(rounds, "rule", "plain")).toBeUndefined();
});
