import { onTestFinished } from "vitest";
import type { CallerCommand, CallerResult } from "../../src/net/threads/caller-program.fixture.ts";
import { sourceHost } from "../../src/net/threads/loop-thread.fixture.ts";
import { LoopThread } from "../../src/net/threads/loop-thread.ts";
import type { IpSocketAddress } from "../../src/platform/socket-address.ts";

const CALLER = new URL("../../src/net/threads/caller-program.fixture.ts", import.meta.url);
const AT_A_TIME = 256;
const MAX_FDS = 10_000;
const MS_A_SECOND = 1000;

export interface ChurnResult extends CallerResult {
  /** How many connections a second came to a good end: what the machine allowed of the wanted rate. */
  readonly reachedPerSecond: number;
}

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

/** Short connections at a rate while something is done; says what became of them. */
export async function callDuring(
  to: IpSocketAddress,
  perSecond: number,
  work: () => Promise<void>,
): Promise<ChurnResult> {
  let finished: (result: CallerResult) => void = () => undefined;
  const result = new Promise<CallerResult>((resolve) => {
    finished = resolve;
  });
  const caller = await startLoop("caller", CALLER, (body) => {
    if (isResult(body)) finished(body);
  });
  const tell = (command: CallerCommand): void => caller.send(command);
  const beganMs = performance.now();
  tell({ kind: "start", to, atATime: AT_A_TIME, perSecond });
  await work();
  tell({ kind: "stop" });
  const counts = await result;
  const seconds = (performance.now() - beganMs) / MS_A_SECOND;
  return { ...counts, reachedPerSecond: Math.round(counts.succeeded / seconds) };
}

/** For the long tests: a rate that was not reached is told, and is no failure of the program. */
export function tellRate({ reachedPerSecond, succeeded }: ChurnResult, perSecond: number): void {
  const share = `${reachedPerSecond} a second of the ${perSecond} that were wanted`;
  process.stdout.write(`${succeeded} short connections, ${share}\n`);
}

function isResult(body: unknown): body is CallerResult {
  return typeof body === "object" && body !== null && "succeeded" in body && "failed" in body;
}
