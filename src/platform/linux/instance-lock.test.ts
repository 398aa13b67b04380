import { expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";

test("the second instance is refused with the pid of the first", requires("linux"), async () => {
  const { takeInstanceLock } = await import("./instance-lock.ts");
  const name = `test-${process.pid}`;
  const lock = takeInstanceLock(name);
  onTestFinished(() => lock.release());
  expect(() => takeInstanceLock(name)).toThrow(`"${name}" is run in this network namespace`);
  expect(() => takeInstanceLock(name)).toThrow(`pid ${process.pid}`);
});

test("who lets go lets the next one in; other names stand apart", requires("linux"), async () => {
  const { takeInstanceLock } = await import("./instance-lock.ts");
  const name = `test-${process.pid}-again`;
  const first = takeInstanceLock(name);
  takeInstanceLock(`${name}-other`).release();
  first.release();
  first.release();
  const second = takeInstanceLock(name);
  // Released once already: it must not let go of what the second holds.
  first.release();
  expect(() => takeInstanceLock(name)).toThrow("already");
  second.release();
});
