import { expect, test } from "vitest";
import { RedirectLock } from "./redirect-lock.ts";

/** A lock that somebody else holds until the test says otherwise. */
function createLock(canWait: boolean, isFree: boolean) {
  const calls: string[] = [];
  let retry: () => void = () => undefined;
  const world = { isFree };
  const create = () =>
    new RedirectLock({
      take: () => {
        if (!world.isFree) throw new Error("run already, by pid 7");
        calls.push("taken");
        return { release: () => void calls.push("released") };
      },
      canWait,
      every: (work) => {
        calls.push("waits");
        retry = work;
        return { stop: () => void calls.push("waits no more") };
      },
    });
  return { create, calls, world, retry: () => retry() };
}

test("who can not wait is refused where another holds it", () => {
  const { create, calls, world } = createLock(false, false);
  expect(create).toThrow("pid 7");
  world.isFree = true;
  expect(create().isHeld()).toBe(true);
  expect(calls).toEqual(["taken"]);
});

test("who can wait takes it when the other lets go", () => {
  const { create, calls, world, retry } = createLock(true, false);
  const lock = create();
  retry();
  expect(lock.isHeld()).toBe(false);
  world.isFree = true;
  retry();
  expect(lock.isHeld()).toBe(true);
  expect(calls).toEqual(["waits", "taken", "waits no more"]);
});

test("who could wait need not where nobody holds it", () => {
  const { create, calls } = createLock(true, true);
  expect(create().isHeld()).toBe(true);
  expect(calls).toEqual(["taken"]);
});

test("who has let go does not take it again", () => {
  const { create, calls, world, retry } = createLock(true, false);
  const lock = create();
  lock.release();
  world.isFree = true;
  retry();
  expect(lock.isHeld()).toBe(false);
  expect(calls).toEqual(["waits", "waits no more"]);
});
