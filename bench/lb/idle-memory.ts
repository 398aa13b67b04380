import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { residentBytesOf } from "../support/process-tree.ts";
import type { ServiceProcess } from "./service-process.ts";

const WANTED_CONNECTIONS = 10_000;
/** Of the limit of open files: for what is no proxied connection. */
const RESERVED_FILES = 1000;

/** How many proxied connections the limit of open files leaves: each takes two. */
export function idleConnections(): number {
  const limits = readFileSync("/proc/self/limits", "utf8");
  const [, hard] = /^Max open files\s+\S+\s+(\d+)/m.exec(limits) ?? [];
  const limit = Number(hard ?? Number.POSITIVE_INFINITY);
  return Math.min(WANTED_CONNECTIONS, Math.floor((limit - RESERVED_FILES) / 2));
}

/** Resident bytes that a proxy takes for each connection which has been used and is idle. */
export async function measureIdleMemory(proxy: ServiceProcess, count: number): Promise<number> {
  const before = residentBytesOf(proxy.pid);
  const task = fileURLToPath(new URL("./tasks/hold-connections.js", import.meta.url));
  const holder = spawn(process.execPath, [task, String(proxy.port), String(count)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(holder, "exit");
  const line = once(createInterface(holder.stdout), "line");
  const early = ended.then(([code]) => {
    throw new Error(`the connections were not held: exit code ${code}`);
  });
  early.catch(() => undefined);
  await Promise.race([line, early]);
  const after = residentBytesOf(proxy.pid);
  holder.stdin.end();
  await ended;
  return (after - before) / count;
}
