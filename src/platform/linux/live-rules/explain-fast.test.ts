import { expect, test } from "vitest";
import { describeFast } from "./explain-fast.ts";

test("says where connections that stand go, or that there are none", () => {
  const targets = new Map([
    ["10.244.1.1:80", 1],
    ["10.244.1.2:80", 2],
  ]);
  const program = "81 portolan_fast";
  expect(describeFast([{ program, targets }])).toEqual([
    "fast path: program 81 portolan_fast passes packets of connections that stand, asking the rules every second:",
    "  1 connection to 10.244.1.1:80",
    "  2 connections to 10.244.1.2:80",
  ]);
  expect(describeFast([{ program, targets: new Map() }])).toEqual([
    "fast path: program 81 portolan_fast has no connection of these ends; the rules decide",
  ]);
  expect(describeFast([])).toEqual([]);
});
