import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test("one at a time, in order; one that fails holds nobody up", async () => {
  const turns = new Turns();
  const order: string[] = [];
  expect(turns.isIdle).toBe(true);
  const first = turns.take(async () => {
    order.push("first");
    throw new TypeError("no");
  });
  const second = turns.take(async () => order.push("second"));
  expect(turns.isIdle).toBe(false);
  await expect(first).rejects.toThrow("no");
  await second;
  expect(order).toEqual(["first", "second"]);
  expect(turns.isIdle).toBe(true);
});

test("who looks waits for those before, but not for a long one nor for those behind it", async () => {
  const turns = new Turns();
  const order: string[] = [];
  const quick = gate();
  const long = gate();
  const taken = turns.take(() => quick.opened.then(() => order.push("quick")));
  const looked = turns.look(() => order.push("look"));
  const slow = turns.take(() => long.opened.then(() => order.push("long")), { isLong: true });
  const behind = turns.take(async () => order.push("behind"));
  const lookedLater = turns.look(() => order.push("look later"));
  quick.open();
  await Promise.all([taken, looked, lookedLater]);
  expect(order).toEqual(["quick", "look", "look later"]);
  long.open();
  await Promise.all([slow, behind]);
  const last = turns.take(async () => order.push("last"));
  await turns.look(() => order.push("look at last"));
  await last;
  expect(order.slice(3)).toEqual(["long", "behind", "last", "look at last"]);
});
