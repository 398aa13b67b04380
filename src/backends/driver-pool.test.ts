import { expect, test } from "vitest";
import type { ContractDriver } from "./contract-judge.ts";
import { DriverPool } from "./driver-pool.ts";

function driver(): ContractDriver {
  return {
    prepare: async () => undefined,
    send: async () => ({ kind: "dropped" }),
    close: async () => undefined,
  };
}

function poolOf(count: number): { pool: DriverPool; drivers: readonly ContractDriver[] } {
  const pool = new DriverPool();
  const drivers = Array.from({ length: count }, driver);
  for (const one of drivers) pool.add(one);
  return { pool, drivers };
}

test("cases of one state go to one driver, one after the other", async () => {
  const { pool } = poolOf(3);
  const seen = new Map<string, Set<ContractDriver>>();
  let running = 0;
  const states = ["a", "a", "b", "a", "b", "c", "d", "a", "d"];
  await Promise.all(
    states.map((state) =>
      pool.use(state, async (one) => {
        running += 1;
        expect(running).toBeLessThanOrEqual(3);
        seen.set(state, (seen.get(state) ?? new Set()).add(one));
        await new Promise(setImmediate);
        running -= 1;
      }),
    ),
  );
  expect([...seen].map(([state, { size }]) => [state, size])).toEqual([
    ["a", 1],
    ["b", 1],
    ["c", 1],
    ["d", 1],
  ]);
});

test("different states are played at the same time", async () => {
  const { pool, drivers } = poolOf(2);
  const used: ContractDriver[] = [];
  let release: () => void = () => undefined;
  const both = new Promise<void>((resolve) => {
    release = resolve;
  });
  const play = (state: string) =>
    pool.use(state, async (one) => {
      used.push(one);
      if (used.length === 2) release();
      await both;
    });
  await Promise.all([play("a"), play("b")]);
  expect(new Set(used)).toEqual(new Set(drivers));
});

test("a case that fails leaves its driver to the next", async () => {
  const { pool } = poolOf(1);
  const failing = pool.use("a", () => Promise.reject(new Error("broken")));
  const next = pool.use("b", async () => "played");
  await expect(failing).rejects.toThrow("broken");
  await expect(next).resolves.toBe("played");
});

test("without a driver nothing can be played", async () => {
  await expect(new DriverPool().use("a", async () => undefined)).rejects.toThrow("no driver");
});
