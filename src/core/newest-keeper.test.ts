import { expect, test } from "vitest";
import { NewestKeeper } from "./newest-keeper.ts";

/** A keeper whose pauses end when the test says so. */
function keeperOf() {
  const written: number[] = [];
  const stage = { newest: 0, goOn: (): void => undefined };
  const keeper = new NewestKeeper({
    write: async () => {
      written.push(stage.newest);
    },
    pause: (signal) =>
      new Promise((resolve, reject) => {
        stage.goOn = resolve;
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  });
  const change = (): void => {
    stage.newest += 1;
    keeper.changed();
  };
  return { written, stage, keeper, change };
}

test("writes a change down at once", () => {
  const { written, change } = keeperOf();
  change();
  expect(written).toEqual([1]);
});

test("writes what changes in a pause once, after it", async () => {
  const { written, stage, change } = keeperOf();
  change();
  change();
  change();
  await Promise.resolve();
  expect(written).toEqual([1]);
  stage.goOn();
  await expect.poll(() => written).toEqual([1, 3]);
  stage.goOn();
  await new Promise(setImmediate);
  expect(written).toEqual([1, 3]);
  change();
  expect(written).toEqual([1, 3, 4]);
});

test("the end waits for no pause, and loses nothing", async () => {
  const { written, keeper, change } = keeperOf();
  change();
  change();
  await keeper.close();
  expect(written).toEqual([1, 2]);
});
