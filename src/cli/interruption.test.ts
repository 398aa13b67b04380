import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { listenForInterruption } from "./interruption.ts";

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 0],
])("%s ends it with %i", (name, exitCode) => {
  const signals = new EventEmitter();
  const interruption = listenForInterruption(signals, new PassThrough());
  expect(interruption.signal.aborted).toBe(false);
  signals.emit(name);
  expect([interruption.signal.aborted, interruption.exitCode()]).toEqual([true, exitCode]);
  interruption.dispose();
  expect(signals.listenerCount(name)).toBe(0);
});

test("nobody reads any more: it ends quietly", () => {
  const stdout = new PassThrough();
  const interruption = listenForInterruption(new EventEmitter(), stdout);
  stdout.emit("error", new Error("EPIPE"));
  expect([interruption.signal.aborted, interruption.exitCode()]).toEqual([true, 0]);
});
