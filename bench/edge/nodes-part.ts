import { type ChildProcess, execFile, fork, spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as z from "zod";
import { ManagerClient } from "../../src/brain/manager/client/manager-client.ts";
import { membershipFiles } from "../../src/brain/manager/client/node-membership.ts";
import { median } from "../support/measure.ts";
import { removeAtExit } from "../support/remove-at-exit.ts";
import type { Figure } from "../support/report.ts";

/** Few: each that waits for a processor beside the manager holds up all of its nodes. */
const PROCESSES = 2;
const INSTANCES_A_NODE = 10;
const ROUNDS = 30;
const WARM_UP = 5;
const LIMIT_MS = 100;
/** What takes longer than this will not end: the part fails instead of waiting. */
const PATIENCE_MS = 240_000;
/** All nodes share this machine with the manager: none shall be taken for dead because the others have the processor. */
const NODE_TIMEOUT = "30s";
const PORT = 12_790;
const MAIN = fileURLToPath(new URL("../../../../dist/cli/main.js", import.meta.url));
const TASK = fileURLToPath(new URL("./tasks/edge-nodes.js", import.meta.url));
const run = promisify(execFile);
const messageSchema = z.object({
  done: z.string().optional(),
  heardMs: z.array(z.number()).optional(),
});

/**
 * Nodes with ten instances each at one real manager with its journal, over TLS on loopback: each renews, follows all
 * other nodes and some twenty services, and one that all of them follow. How long a change of that one takes, from
 * the call that asks for it to the last node that hears of it.
 */
export async function measureNodes(nodes: number): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  const removed = removeAtExit(folder);
  const state = join(folder, "state");
  const manager = startManager(state);
  const count = Math.ceil(nodes / PROCESSES);
  const groups = Array.from({ length: PROCESSES }, (_, index) =>
    fork(TASK, [String(PORT), folder, String(index * count), String(count)]),
  );
  const all = count * PROCESSES;
  try {
    await listening(manager);
    const words = ["manager", "token", "create", "--state", state];
    const { stdout } = await run(process.execPath, [MAIN, ...words]);
    const idle = cpuSeconds(manager);
    const joinS = await seconds(() => order(groups, { what: "join", token: stdout.trim() }));
    const joinCpuMs = ((cpuSeconds(manager) - idle) * 1000) / all;
    const deployS = await seconds(() => order(groups, { what: "deploy" }));
    const followS = await seconds(() => order(groups, { what: "follow" }));
    const cpuOfAll = (): readonly number[] => [manager, ...groups].map(cpuSeconds);
    const before = cpuOfAll();
    const startMs = performance.now();
    const rounds = await measureChanges(groups, folder);
    const tookMs = performance.now() - startMs;
    const [cpuS = 0, ...nodeCpuS] = cpuOfAll().map(
      (seconds, index) => seconds - (before[index] ?? 0),
    );
    const eachUs = (seconds: number): number => (seconds * 1e6) / (all * (WARM_UP + ROUNDS));
    const first = rounds.map((times) => Math.min(...times));
    const last = rounds.map((times) => Math.max(...times));
    const each = rounds.flat().sort((a, b) => a - b);
    const at = (part: number): number => each[Math.floor(part * (each.length - 1))] ?? 0;
    const many = `${all.toLocaleString("en")} nodes`;
    const instances = (all * INSTANCES_A_NODE).toLocaleString("en");
    return [
      { name: `${many} join`, value: joinS, unit: "s" },
      { name: "CPU of the manager for each", value: joinCpuMs, unit: "ms" },
      { name: `${instances} instances are deployed`, value: deployS, unit: "s" },
      { name: `${many} are told all that they follow`, value: followS, unit: "s" },
      {
        name: `a change is with the last of ${many}`,
        value: median(last),
        unit: "ms",
        limit: LIMIT_MS,
      },
      {
        name: `the slowest of ${ROUNDS} such changes`,
        value: Math.max(...last),
        unit: "ms",
        limit: LIMIT_MS,
      },
      { name: "a change is with the first node", value: median(first), unit: "ms" },
      { name: "a change is with one node, median", value: at(0.5), unit: "ms" },
      { name: "the same, 99 of 100", value: at(0.99), unit: "ms" },
      { name: "CPU of the manager meanwhile", value: (cpuS / tookMs) * 1e5, unit: "% of a core" },
      { name: "CPU of the manager for a change and a node", value: eachUs(cpuS), unit: "µs" },
      { name: "CPU of that node", value: eachUs(sum(nodeCpuS)), unit: "µs" },
      { name: "memory of the manager", value: await residentMegabytes(manager), unit: "MB" },
    ];
  } finally {
    for (const child of [...groups, manager]) child.kill("SIGKILL");
    removed();
  }
}

/** Ends with this process, also where that is killed. */
function startManager(state: string): ChildProcess {
  const args = ["--api-listen", `127.0.0.1:${PORT}`, "--state", state, "--log-level", "error"];
  args.push("--node-timeout", NODE_TIMEOUT);
  const off = ["resp", "http", "metrics", "health"].flatMap((one) => [`--${one}-listen`, "off"]);
  const words = [process.execPath, MAIN, "manager", ...args, ...off];
  return spawn("setpriv", ["--pdeathsig", "KILL", ...words], { stdio: "inherit" });
}

async function listening(manager: ChildProcess): Promise<void> {
  for (;;) {
    if (manager.exitCode !== null) throw new Error("the manager did not start");
    const isThere = await run("ss", ["-Hltn", `sport = :${PORT}`]);
    if (isThere.stdout !== "") return;
  }
}

async function measureChanges(
  groups: readonly ChildProcess[],
  folder: string,
): Promise<readonly (readonly number[])[]> {
  const address = { kind: "tcp", host: "127.0.0.1", port: PORT } as const;
  const client = await ManagerClient.connect({ address, tls: membershipFiles(join(folder, "n0")) });
  const took: (readonly number[])[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    await order(groups, { what: "round" });
    const heard = Promise.all(groups.map((group) => answer(group, ({ heardMs }) => heardMs)));
    const startMs = Number(process.hrtime.bigint()) / 1e6;
    const addresses = [`10.18.1.${round + 2}`];
    await client.call("Deploy", { service: "default/hot", instance: 0, addresses });
    took.push((await heard).flat().map((atMs) => atMs - startMs));
  }
  client.close();
  return took.slice(WARM_UP);
}

async function order(
  groups: readonly ChildProcess[],
  task: { readonly what: string; readonly token?: string },
): Promise<void> {
  await Promise.all(
    groups.map((group) => {
      const done = answer(group, (message) => message.done === task.what || undefined);
      group.send(task);
      return done;
    }),
  );
}

/** The first message that says what is waited for. */
function answer<T>(
  group: ChildProcess,
  read: (message: z.infer<typeof messageSchema>) => T | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error("nodes ended"));
    const late = (): void => reject(new Error(`nodes are not done after ${PATIENCE_MS / 1000} s`));
    const timer = setTimeout(late, PATIENCE_MS);
    const look = (said: unknown): void => {
      const found = read(messageSchema.parse(said));
      if (found === undefined) return;
      clearTimeout(timer);
      group.off("message", look);
      group.off("exit", ended);
      resolve(found);
    };
    group.on("message", look);
    group.once("exit", ended);
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return (performance.now() - startMs) / 1000;
}

/** proc(5): user and system time of all its threads, in ticks of 10 ms. */
function cpuSeconds({ pid }: ChildProcess): number {
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user = 0, system = 0] = fields.split(" ").slice(11, 13).map(Number);
  return (user + system) / 100;
}

async function residentMegabytes({ pid }: ChildProcess): Promise<number> {
  const { stdout } = await run("ps", ["-o", "rss=", "-p", String(pid)]);
  return Number(stdout) / 1024;
}
