import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { KeptHandle } from "./kept-handle.ts";

function create() {
  const log: string[] = [];
  const kept = new KeptHandle<string>({
    open: async (id) => {
      log.push(`open ${id}`);
      if (id === "gone") throw new Error("not there");
      return id;
    },
    close: async (id) => void log.push(`close ${id}`),
  });
  return { log, use: (id: string) => kept.use(id, async () => void log.push(`use ${id}`)), kept };
}

test("uses that follow at once share one handle, which is closed when nobody asks any more", async () => {
  const { log, use } = create();
  await use("a");
  await use("a");
  await Promise.all([use("a"), use("a")]);
  expect(log).toEqual(["open a", "use a", "use a", "use a", "use a"]);
  await turn();
  expect(log.at(-1)).toBe("close a");
  await use("a");
  await turn();
  expect(log.slice(5)).toEqual(["close a", "open a", "use a", "close a"]);
});

test("of another object another handle is opened, and the one before is closed when its users are done", async () => {
  const { log, use, kept } = create();
  let release = (): void => undefined;
  const slow = kept.use("a", () => new Promise<void>((resolve) => (release = resolve)));
  await use("b");
  await turn();
  expect(log).toEqual(["open a", "open b", "use b", "close b"]);
  release();
  await slow;
  expect(log.at(-1)).toBe("close a");
});

test("after a use that failed the handle is not used again, and is closed once", async () => {
  const { log, use, kept } = create();
  const failed = kept.use("a", () => Promise.reject(new Error("no")));
  await expect(failed).rejects.toThrow("no");
  await use("a");
  await turn();
  expect(log).toEqual(["open a", "close a", "open a", "use a", "close a"]);
  await expect(use("gone")).rejects.toThrow("not there");
  await turn();
  expect(log.slice(5)).toEqual(["open gone"]);
});
