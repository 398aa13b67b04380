import { expect, onTestFinished } from "vitest";
import { EventLoopGroup } from "../../src/net/groups/event-loop-group.ts";
import { SharedListener } from "../../src/net/listeners/shared-listener.ts";
import type { CallerResult } from "../../src/net/threads/caller-program.fixture.ts";
import { sourceHost } from "../../src/net/threads/loop-thread.fixture.ts";
import { LoopThread } from "../../src/net/threads/loop-thread.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";
import { callDuring } from "./churn-caller.ts";

const ECHO = new URL("../../src/net/threads/echo-program.fixture.ts", import.meta.url);
const MAX_FDS = 10_000;
const DRAIN_TIMEOUT_MS = 5000;

/** Adds and removes a loop again and again under short connections; says what became of them. */
export async function churn(options: {
  readonly rounds: number;
  readonly perSecond: number;
}): Promise<CallerResult> {
  const host = sourceHost();
  const group = new EventLoopGroup<LoopThread>({
    name: "workers",
    log: host.log,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
  });
  onTestFinished(() => group.close({ drainTimeoutMs: 0 }));
  const start = (name: string): Promise<LoopThread> =>
    LoopThread.start(host, { name, program: ECHO, maxFds: MAX_FDS });
  const listener = SharedListener.open<LoopThread>(ipAddress("127.0.0.1", 0), {
    id: "web",
    transport: "stream",
    backlog: 4096,
  });
  await group.attach(listener);
  await group.add(await start("loop-0"));
  if (listener.address.family === "unix") throw new Error("not an IP address");

  const result = await callDuring(listener.address, options.perSecond, async (level) => {
    for (let round = 1; round <= options.rounds; round += 1) {
      await group.add(await start(`loop-${round}`));
      await group.remove(`loop-${round - 1}`, { drainTimeoutMs: DRAIN_TIMEOUT_MS });
      await level();
    }
  });
  expect(host.lines.filter(({ level }) => level === "error")).toEqual([]);
  return result;
}
