import { expect, test } from "vitest";
import { abortable } from "./abortable.ts";

test("gives what was waited for, or its error", async () => {
  const { signal } = new AbortController();
  await expect(abortable(Promise.resolve(1), signal)).resolves.toBe(1);
  await expect(abortable(2, signal)).resolves.toBe(2);
  await expect(abortable(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
});

test("stops waiting when the signal comes", async () => {
  const controller = new AbortController();
  const waiting = abortable(new Promise(() => undefined), controller.signal);
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ code: "ERR_ABORTED" });
});

test("with a signal that came before, an error of what was waited for is nobody's", async () => {
  let fail: (error: Error) => void = () => undefined;
  const late = new Promise((_, reject) => {
    fail = reject;
  });
  const waiting = abortable(late, AbortSignal.abort());
  await expect(waiting).rejects.toMatchObject({ code: "ERR_ABORTED" });
  fail(new Error("an unhandled rejection would fail this run"));
  await expect(late).rejects.toThrow("unhandled");
});
