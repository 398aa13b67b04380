import { expect, test } from "vitest";
import { connectionCap } from "./connection-cap.ts";

test("leaves a reserve and shares the rest", () => {
  expect(connectionCap(20_256, 2)).toBe(10_000);
  expect(connectionCap(20_256, 0)).toBe(20_000);
});

test("a small limit still leaves room to work", () => {
  expect(connectionCap(256, 1)).toBe(192);
  expect(connectionCap(64, 100)).toBe(16);
});
