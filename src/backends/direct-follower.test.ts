import { expect, test, vi } from "vitest";
import { Turns } from "../core/turns.ts";
import { DirectFollower } from "./direct-follower.ts";

const NO_LOOKUP = () => undefined;

/** What it had done, in order; the rules are written as soon as they changed. */
function setUp({ isLate = false, advance = async (): Promise<void> => undefined } = {}) {
  const done: string[] = [];
  const turns = new Turns();
  const tell = () => undefined;
  const error = (_: object, text: string) => void done.push(`told: ${text}`);
  const follower = new DirectFollower({
    direct: {
      isLate,
      retreat: (changed) => void done.push(`retreat of ${[...changed].join()}`),
      advance: () => {
        done.push("advance");
        return advance();
      },
      withdraw: () => void done.push("withdraw"),
      forgetObstacle: () => void done.push("forget obstacle"),
    },
    turns,
    log: { debug: tell, info: tell, warn: tell, error },
    backend: "test",
  });
  const sync = () =>
    turns.take(async () => {
      follower.onChange(["default/web"], NO_LOOKUP);
      done.push("write");
      await follower.onWritten();
    });
  return { follower, turns, done, sync };
}

test("what changed is led nowhere while its rules are written, and led on afterwards", async () => {
  const { done, sync } = setUp();
  await sync();
  expect(done).toEqual(["retreat of default/web", "write", "advance"]);
});

test("what could not be written is led on by the repair that writes it, which tries all again", async () => {
  const { follower, done } = setUp();
  follower.onChange(["default/web"], NO_LOOKUP);
  await follower.onRepaired(true);
  expect(done).toEqual(["retreat of default/web", "forget obstacle", "advance"]);
});

test("a repair without rules leads nothing on", async () => {
  const { follower, done, sync } = setUp();
  await follower.onRepaired(false);
  await sync();
  done.length = 0;
  follower.onRemoval();
  await follower.onRepaired(false);
  expect(done).toEqual(["withdraw", "forget obstacle"]);
});

test("where very much changed, who wrote the rules does not wait", async () => {
  let end: () => void = () => undefined;
  const advance = () => new Promise<void>((resolve) => (end = resolve));
  const { turns, done, sync } = setUp({ isLate: true, advance });
  void sync().then(() => done.push("synced"));
  await vi.waitFor(() => expect(done).toContain("synced"));
  const later = turns.take(async () => void done.push("later"));
  await vi.waitFor(() => expect(done).toContain("advance"));
  expect(done).not.toContain("later");
  end();
  await later;
});

test.each([
  ["are removed", (follower: DirectFollower) => follower.onRemoval()],
  ["change again", (follower: DirectFollower) => follower.onChange([], NO_LOOKUP)],
])("what is to be led on later is not where the rules %s before", async (_, act) => {
  const { follower, turns, done, sync } = setUp({ isLate: true });
  const synced = sync();
  await Promise.all([synced, turns.take(async () => act(follower))]);
  await turns.over();
  expect(done).not.toContain("advance");
});

test("what is led on later and fails is told, and fails nobody", async () => {
  const advance = () => Promise.reject(new Error("no"));
  const { turns, done, sync } = setUp({ isLate: true, advance });
  await sync();
  await turns.over();
  expect(done.at(-1)).toBe("told: connections could not be led to endpoints at once");
});
