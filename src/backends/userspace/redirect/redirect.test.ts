import { expect, test } from "vitest";
import type { Log } from "../../../core/log.ts";
import { Redirect } from "./redirect.ts";
import { NO_ELEMENTS } from "./redirect-table.ts";

/** Rules that note what they are told; each takes until the next turn of the loop. */
function createRedirect(failure?: Error, isHeld = true) {
  const calls: string[] = [];
  const lines: string[] = [];
  let watch: () => void = () => undefined;
  const note = (what: string) => async () => {
    calls.push(`${what} begins`);
    await new Promise(setImmediate);
    if (failure !== undefined) throw failure;
    calls.push(`${what} ends`);
  };
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (_, message) => void lines.push(message),
  };
  const redirect = new Redirect({
    rules: { apply: note("apply"), check: note("check"), remove: note("remove") },
    lock: { isHeld: () => isHeld, release: () => void calls.push("unlock") },
    every: (work) => {
      watch = work;
      return { stop: () => void calls.push("stop") };
    },
    release: () => void calls.push("release"),
    log,
  });
  return { redirect, calls, lines, watch: () => watch() };
}

test("one thing at a time, and the watch in its turn", async () => {
  const { redirect, calls, watch } = createRedirect();
  const applied = redirect.apply(NO_ELEMENTS);
  watch();
  await Promise.all([applied, redirect.remove()]);
  expect(calls).toEqual([
    ...["apply begins", "apply ends"],
    ...["check begins", "check ends"],
    ...["remove begins", "remove ends"],
  ]);
});

test("closing removes the rules once and lets go, also where removing fails", async () => {
  const { redirect, calls } = createRedirect();
  await redirect.close();
  await redirect.close();
  expect(calls).toEqual(["stop", "remove begins", "remove ends", "unlock", "release"]);
  const failing = createRedirect(new Error("no"));
  await expect(failing.redirect.close()).rejects.toThrow("no");
  expect(failing.calls).toEqual(["stop", "remove begins", "unlock", "release"]);
});

test("what is left to a successor is not touched any more, and the lock is its", async () => {
  const { redirect, calls } = createRedirect();
  const applied = redirect.apply(NO_ELEMENTS);
  await Promise.all([applied, redirect.leave()]);
  expect(calls).toEqual(["stop", "unlock"]);
  await redirect.apply(NO_ELEMENTS);
  await redirect.remove();
  await redirect.close();
  expect(calls).toEqual(["stop", "unlock", "stop", "unlock", "release"]);
});

test("a change that is under way when it is left ends before the lock is let go", async () => {
  const { redirect, calls } = createRedirect();
  const applied = redirect.apply(NO_ELEMENTS);
  await Promise.resolve();
  await Promise.all([applied, redirect.leave()]);
  expect(calls).toEqual(["apply begins", "stop", "apply ends", "unlock"]);
});

test("a successor that ends before its turn leads calls, and leaves the rules", async () => {
  const { redirect, calls } = createRedirect(undefined, false);
  await redirect.apply(NO_ELEMENTS);
  await redirect.close();
  expect(calls).toEqual(["apply begins", "apply ends", "stop", "unlock", "release"]);
});

test("a look that fails is logged", async () => {
  const { redirect, lines, watch } = createRedirect(new Error("no"));
  watch();
  await expect(redirect.apply(NO_ELEMENTS)).rejects.toThrow("no");
  expect(lines).toEqual(["the redirect's rules could not be looked at"]);
});
