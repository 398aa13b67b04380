import { expect, test } from "vitest";
import { SyncProgress } from "./sync-progress.ts";

const never = new AbortController().signal;

test("a revision is tried when all sinks have tried it, well or not", async () => {
  const progress = new SyncProgress(["one", "other"]);
  let isTried = false;
  const tried = progress.tried(3, never).then(() => {
    isTried = true;
  });
  progress.applied("one", 3);
  progress.applied("other", 2);
  await Promise.resolve();
  expect(isTried).toBe(false);
  progress.failed("other", 4, new Error("no room"));
  await tried;
  expect([...progress.failures()]).toEqual([["other", new Error("no room")]]);
  progress.applied("other", 5);
  expect(progress.failures().size).toBe(0);
  await progress.tried(3, never);
});

test("who waits hurries those that pause, also such that begin to later", async () => {
  const progress = new SyncProgress(["one"]);
  const first = progress.hurried(never);
  const tried = progress.tried(1, never);
  await first;
  progress.failed("one", 0, new Error("again"));
  const second = progress.hurried(never);
  await second;
  progress.applied("one", 1);
  await tried;
});

test("a signal ends the wait", async () => {
  const progress = new SyncProgress(["one"]);
  const ended = new AbortController();
  const tried = progress.tried(1, ended.signal);
  ended.abort();
  await expect(tried).rejects.toMatchObject({ code: "ERR_ABORTED" });
  await expect(progress.hurried(ended.signal)).rejects.toMatchObject({ code: "ERR_ABORTED" });
});
