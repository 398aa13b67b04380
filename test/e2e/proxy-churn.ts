import { onTestFinished } from "vitest";
import { openFirstListening } from "../../src/net/listeners/listening-socket.ts";
import type { CallerCommand, CallerResult } from "../../src/net/threads/caller-program.fixture.ts";
import { sourceHost } from "../../src/net/threads/loop-thread.fixture.ts";
import { LoopThread } from "../../src/net/threads/loop-thread.ts";
import { close } from "../../src/platform/linux/io-calls.ts";
import { localAddressOf } from "../../src/platform/linux/socket-names.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";
import { configOf, LOCAL } from "./proxy-config.ts";
import { TestEngine } from "./proxy-fixture.ts";

const ECHO = new URL("../../src/net/threads/echo-program.fixture.ts", import.meta.url);
const CALLER = new URL("../../src/net/threads/caller-program.fixture.ts", import.meta.url);
const MAX_FDS = 10_000;
const AT_A_TIME = 256;
const BACKLOG = 4096;

function isResult(body: unknown): body is CallerResult {
  return typeof body === "object" && body !== null && "succeeded" in body && "failed" in body;
}

/** A loop on a thread of its own, gone when the test has finished. */
async function startLoop(
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

/** The port of a server that echoes, on a thread of its own. */
async function startEcho(): Promise<number> {
  const loop = await startLoop("server", ECHO);
  const on = ipAddress(LOCAL, 0);
  const descriptor = openFirstListening(on, { transport: "stream", backlog: BACKLOG });
  onTestFinished(() => void close(descriptor));
  loop.lend("echo", "stream", descriptor);
  const address = localAddressOf(descriptor);
  return address.family === "unix" ? 0 : address.port;
}

/**
 * Adds and removes a loop of an engine again and again under short connections that pass through it;
 * says what became of them.
 */
export async function churnEngine(options: {
  readonly rounds: number;
  readonly perSecond: number;
}): Promise<CallerResult> {
  const proxy = await TestEngine.start();
  await proxy.engine.apply(configOf([await startEcho()]));
  let finished: (result: CallerResult) => void = () => undefined;
  const result = new Promise<CallerResult>((resolve) => {
    finished = resolve;
  });
  const caller = await startLoop("caller", CALLER, (body) => {
    if (isResult(body)) finished(body);
  });
  const tell = (command: CallerCommand): void => caller.send(command);
  const { perSecond, rounds } = options;
  const to = ipAddress(LOCAL, proxy.port());
  tell({ kind: "start", to, atATime: AT_A_TIME, perSecond });
  const { loops } = proxy.engine;
  let current = "worker-1";
  for (let round = 0; round < rounds; round += 1) {
    const next = await loops.add();
    await loops.remove(current);
    current = next;
  }
  tell({ kind: "stop" });
  return result;
}
