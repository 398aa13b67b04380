/** An engine in a process of its own, for tests that limit it: `proxy-limited-engine.ts SERVER_PORT`. */

import { sourceHost } from "../../src/net/threads/loop-thread.fixture.ts";
import { createEngine } from "../../src/proxy/engine.ts";
import { configOf } from "./proxy-config.ts";

const { startWorker, log } = sourceHost();
const engine = await createEngine({
  loops: 1,
  provider: "posix",
  log,
  drainTimeoutMs: 1000,
  ...(startWorker && { startWorker }),
});
await engine.apply(configOf([Number(process.argv[2])]));
const address = engine.stats().listeners[0]?.address;
process.stdout.write(`${JSON.stringify(address)}\n`);
process.stdin.on("end", () => void engine.close()).resume();
