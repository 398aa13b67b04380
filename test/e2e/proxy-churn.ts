import { onTestFinished } from "vitest";
import { openFirstListening } from "../../src/net/listeners/listening-socket.ts";
import type { CallerResult } from "../../src/net/threads/caller-program.fixture.ts";
import { close } from "../../src/platform/linux/io-calls.ts";
import { localAddressOf } from "../../src/platform/linux/socket-names.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";
import { callDuring, startLoop } from "./churn-caller.ts";
import { configOf, LOCAL } from "./proxy-config.ts";
import { TestEngine } from "./proxy-fixture.ts";

const ECHO = new URL("../../src/net/threads/echo-program.fixture.ts", import.meta.url);
const BACKLOG = 4096;

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
  const { loops } = proxy.engine;
  return callDuring(ipAddress(LOCAL, proxy.port()), options.perSecond, async (level) => {
    let current = "worker-1";
    for (let round = 0; round < options.rounds; round += 1) {
      const next = await loops.add();
      await loops.remove(current);
      current = next;
      await level();
    }
  });
}
