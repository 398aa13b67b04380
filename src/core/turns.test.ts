import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

test("each begins when the one before it is over, also where that failed", async () => {
  const turns = new Turns();
  const said: string[] = [];
  const turn = (name: string, fails = false) =>
    turns.take(async () => {
      said.push(`${name} begins`);
      await Promise.resolve();
      said.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const first = turn("a", true);
  const second = turn("b");
  await expect(first).rejects.toThrow("a");
  expect(await second).toBe("b");
  expect(said).toEqual(["a begins", "a ends", "b begins", "b ends"]);
});

test("it is over when the last one is, well or not", async () => {
  const turns = new Turns();
  let isOver = false;
  const failing = turns.take(async () => {
    await Promise.resolve();
    isOver = true;
    throw new Error("no");
  });
  failing.catch(() => undefined);
  await turns.over();
  expect(isOver).toBe(true);
});
