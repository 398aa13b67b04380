import { expect, test } from "vitest";
import { requires } from "../../test/support/requires.ts";
import { cpuSecondsOf, residentBytesOf } from "./process-tree.ts";

test("CPU time grows by what a process works", requires("linux"), () => {
  const before = cpuSecondsOf(process.pid);
  const { user, system } = process.cpuUsage();
  while (process.cpuUsage({ user, system }).user < 100_000);
  expect(cpuSecondsOf(process.pid) - before).toBeGreaterThanOrEqual(0.08);
});

test("memory is that of the process", requires("linux"), () => {
  const { rss } = process.memoryUsage();
  expect(residentBytesOf(process.pid)).toBeGreaterThan(rss / 2);
});

test("a process that is not there has used nothing", requires("linux"), () => {
  expect([cpuSecondsOf(2 ** 30), residentBytesOf(2 ** 30)]).toEqual([0, 0]);
});
