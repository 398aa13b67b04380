import { expect, test } from "vitest";
import type { Log } from "../../core/log.ts";
import { ChangeWatch } from "./change-watch.ts";

function setUp() {
  const warnings: string[] = [];
  let isUnreadable = false;
  let generation = 7;
  const raise = async (): Promise<void> => {
    generation += 1;
  };
  const read = async (): Promise<number> => {
    if (isUnreadable) throw new Error("ENOBUFS");
    return generation;
  };
  const fail = (isFailing: boolean): void => {
    isUnreadable = isFailing;
  };
  return { watch: new ChangeWatch(read, logTo(warnings)), raise, fail, warnings };
}

function logTo(warnings: string[]): Log {
  const none = () => undefined;
  return { debug: none, info: none, warn: (_, text) => warnings.push(text), error: none };
}

test("nothing is known before all rules were read", async () => {
  const { watch } = setUp();
  expect(await watch.isUntouched()).toBe(false);
  await watch.begin();
  expect(await watch.isUntouched()).toBe(true);
});

test("our own transactions are no change, those of others are", async () => {
  const { watch, raise } = setUp();
  await watch.begin();
  await watch.ours(
    () => 2,
    async () => {
      await raise();
      await raise();
    },
  );
  expect(await watch.isUntouched()).toBe(true);
  await raise();
  expect(await watch.isUntouched()).toBe(false);
});

test("what others change while we do is noticed, and what they did before is not forgotten", async () => {
  const { watch, raise } = setUp();
  await watch.begin();
  await watch.ours(
    () => 1,
    async () => {
      await raise();
      await raise();
    },
  );
  expect(await watch.isUntouched()).toBe(false);
  await watch.begin();
  await raise();
  await watch.ours(() => 1, raise);
  expect(await watch.isUntouched()).toBe(false);
});

test("after a failure nothing is known", async () => {
  const { watch } = setUp();
  await watch.begin();
  await expect(
    watch.ours(
      () => 1,
      () => Promise.reject(new Error("refused")),
    ),
  ).rejects.toThrow();
  expect(await watch.isUntouched()).toBe(false);
});

test("without a count of transactions it never knows", async () => {
  const watch = new ChangeWatch(undefined, logTo([]));
  await watch.begin();
  await watch.ours(
    () => 1,
    async () => undefined,
  );
  expect(await watch.isUntouched()).toBe(false);
});

test("a count that can not be read tells nothing, and does not fail what was done", async () => {
  const { watch, raise, fail, warnings } = setUp();
  await watch.begin();
  fail(true);
  expect(await watch.isUntouched()).toBe(false);
  await watch.ours(() => 1, raise);
  fail(false);
  expect(await watch.isUntouched()).toBe(false);
  expect(warnings).toHaveLength(2);
  await watch.begin();
  expect(await watch.isUntouched()).toBe(true);
});
