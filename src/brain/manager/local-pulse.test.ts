import { expect, onTestFinished, test, vi } from "vitest";
import { LocalPulse } from "./local-pulse.ts";

const TIMEOUT_MS = 5000;

function start(...nodes: readonly string[]) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const nowMs = () => performance.now();
  const pulse = new LocalPulse({ timeoutMs: TIMEOUT_MS, nodes, nowMs });
  const told: string[] = [];
  pulse.follow((node) => told.push(`${node} ${pulse.isAlive(node) ? "lives" : "is dead"}`));
  onTestFinished(() => {
    pulse.close();
    vi.useRealTimers();
  });
  return { pulse, told };
}

test("a node that does not renew is dead in time, and lives again when it does", async () => {
  const { pulse, told } = start();
  await pulse.renew("a");
  vi.advanceTimersByTime(TIMEOUT_MS - 1);
  await pulse.renew("b");
  expect(told).toEqual(["a lives", "b lives"]);
  vi.advanceTimersByTime(1);
  expect(told.splice(0)).toEqual(["a lives", "b lives", "a is dead"]);
  vi.advanceTimersByTime(TIMEOUT_MS);
  expect(told.splice(0)).toEqual(["b is dead"]);
  await pulse.renew("a");
  expect(told).toEqual(["a lives"]);
});

test("one that renews is never told of, however long", async () => {
  const { pulse, told } = start();
  await pulse.renew("a");
  for (let turn = 0; turn < 50; turn += 1) {
    vi.advanceTimersByTime(TIMEOUT_MS - 1);
    await pulse.renew("a");
  }
  expect(told).toEqual(["a lives"]);
});

test("those that are known from before have a while longer", () => {
  const { pulse, told } = start("a");
  vi.advanceTimersByTime(3 * TIMEOUT_MS - 1);
  expect([pulse.isAlive("a"), told]).toEqual([true, []]);
  vi.advanceTimersByTime(1);
  expect([pulse.isAlive("a"), told]).toEqual([false, ["a is dead"]]);
});

test("one that has joined has a while longer for its first renewal, and then as long as others", async () => {
  const { pulse, told } = start();
  await pulse.welcome("a");
  vi.advanceTimersByTime(3 * TIMEOUT_MS - 1);
  expect(told).toEqual(["a lives"]);
  await pulse.renew("a");
  vi.advanceTimersByTime(TIMEOUT_MS);
  expect(told).toEqual(["a lives", "a is dead"]);
  await pulse.welcome("b");
  vi.advanceTimersByTime(3 * TIMEOUT_MS);
  expect(told.slice(2)).toEqual(["b lives", "b is dead"]);
});

test("one that renewed is dead in time, though others are still waited for", async () => {
  const { pulse, told } = start("a", "b");
  await pulse.renew("b");
  vi.advanceTimersByTime(TIMEOUT_MS);
  expect(told).toEqual(["b is dead"]);
  vi.advanceTimersByTime(2 * TIMEOUT_MS);
  expect(told).toEqual(["b is dead", "a is dead"]);
});

test("one that leaves is not told to be dead, and nothing is told once it is closed", async () => {
  const { pulse, told } = start();
  await pulse.renew("a");
  await pulse.forget("a");
  vi.advanceTimersByTime(2 * TIMEOUT_MS);
  await pulse.renew("b");
  pulse.close();
  vi.advanceTimersByTime(2 * TIMEOUT_MS);
  expect(told).toEqual(["a lives", "b lives"]);
});
