import { expect, onTestFinished } from "vitest";
import type { CallerCommand, CallerResult } from "../../src/net/threads/caller-program.fixture.ts";
import { sourceHost } from "../../src/net/threads/loop-thread.fixture.ts";
import { LoopThread } from "../../src/net/threads/loop-thread.ts";
import type { IpSocketAddress } from "../../src/platform/socket-address.ts";

const CALLER = new URL("../../src/net/threads/caller-program.fixture.ts", import.meta.url);
/** Fewer than the backlog of what is called, and as many as a second of the long tests' rate nearly makes. */
const AT_A_TIME = 4000;
const MAX_FDS = 10_000;

/** A loop on a thread of its own, gone when the test has finished. */
export async function startLoop(
  name: string,
  program: URL,
  onReport: (body: unknown) => void = () => undefined,
): Promise<LoopThread> {
  const loop = await LoopThread.start(sourceHost(), { name, program, maxFds: MAX_FDS, onReport });
  onTestFinished(async () => {
    await loop.stop();
  });
  return loop;
}

/**
 * Short connections at a rate while something is done; says what became of them.
 * @param work may wait for the time when nothing is behind: then the rate is what it should be
 */
export async function callDuring(
  to: IpSocketAddress,
  perSecond: number,
  work: (level: () => Promise<void>) => Promise<void>,
): Promise<CallerResult> {
  let finished: (result: CallerResult) => void = () => undefined;
  const result = new Promise<CallerResult>((resolve) => {
    finished = resolve;
  });
  let isLevel: () => void = () => undefined;
  const caller = await startLoop("caller", CALLER, (body) => {
    if (isResult(body)) finished(body);
    else if (body === "level") isLevel();
  });
  const tell = (command: CallerCommand): void => caller.send(command);
  tell({ kind: "start", to, atATime: AT_A_TIME, perSecond });
  await work(async () => {
    const reached = new Promise<void>((resolve) => {
      isLevel = resolve;
    });
    tell({ kind: "level" });
    await reached;
  });
  tell({ kind: "stop" });
  return result;
}

/** All that a rate asked for was offered, and came to a good end. */
export function expectAllServed({ due, offered, succeeded, failed }: CallerResult): void {
  expect(failed).toEqual({});
  expect({ offered, succeeded }).toEqual({ offered: due, succeeded: due });
}

function isResult(body: unknown): body is CallerResult {
  return typeof body === "object" && body !== null && "succeeded" in body && "failed" in body;
}
