import { expect, test } from "vitest";
import type { Log } from "../../../core/log.ts";
import { Redirect } from "./redirect.ts";
import { NO_ELEMENTS } from "./redirect-table.ts";

/** Rules that note what they are told; each takes until the next turn of the loop. */
function createRedirect(failure?: Error) {
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
  expect(calls).toEqual(["stop", "remove begins", "remove ends", "release"]);
  const failing = createRedirect(new Error("no"));
  await expect(failing.redirect.close()).rejects.toThrow("no");
  expect(failing.calls).toEqual(["stop", "remove begins", "release"]);
});

test("what is left to a successor is not touched any more", async () => {
  const { redirect, calls } = createRedirect();
  redirect.leave();
  await redirect.apply(NO_ELEMENTS);
  await redirect.remove();
  await redirect.close();
  expect(calls).toEqual(["stop", "stop", "release"]);
});

test("a look that fails is logged", async () => {
  const { redirect, lines, watch } = createRedirect(new Error("no"));
  watch();
  await expect(redirect.apply(NO_ELEMENTS)).rejects.toThrow("no");
  expect(lines).toEqual(["the redirect's rules could not be looked at"]);
});
