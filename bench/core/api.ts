/**
 * `api FILE`: prints the wall time in ms from connecting to an API server in another process to the
 * whole state of one node, decoded.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { watchNode } from "../../src/sources/api/watch-node.ts";
import { FULL_SIZE, nodeName } from "../support/cluster.ts";
import { expectWhole } from "../support/node-state.ts";

const [path = ""] = process.argv.slice(2);
const serverTask = fileURLToPath(new URL("./api-server.js", import.meta.url));
const server = spawn(process.execPath, [serverTask, path], {
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const [port] = await once(createInterface(server.stdout), "line");
  console.log(JSON.stringify(await timeToSync(Number(port))));
} finally {
  server.kill();
}

async function timeToSync(port: number): Promise<number> {
  const start = performance.now();
  const watcher = watchNode(
    {
      address: { kind: "tcp", host: "127.0.0.1", port },
      random: Math.random,
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    },
    { nodeName: nodeName(0), sets: [] },
    {
      ok: () => undefined,
      failed: (error) => {
        throw error;
      },
    },
  );
  const ops = await watcher.next();
  const elapsedMs = performance.now() - start;
  watcher.close();
  expectWhole(ops, FULL_SIZE.services);
  return elapsedMs;
}
