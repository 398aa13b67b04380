import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { runTask } from "../support/child.ts";

/** Output of a program that is kept. */
const MAX_BYTES = 1 << 28;
/** A task that takes longer fails, so that the benchmark comes to an end. */
const TASK_LIMIT_MS = 300_000;

/**
 * TCP of these namespaces. BBR, with which some kernels begin, sends by the clock: what is measured then is
 * less what packets cost than how timers fall. This one any kernel lets any namespace have.
 */
const UNPACED = "reno";

/** A program that runs. */
export interface Started {
  readonly pid: number;
  stop(): void;
}

/**
 * A network namespace, for as long as the benchmark runs: it has no name, and ends with this process
 * and with what it started, which ends when this process does.
 */
export class Namespace {
  readonly #namespace = NetworkNamespace.create();

  static create(): Namespace {
    const namespace = new Namespace();
    namespace.run("ip", "link", "set", "lo", "up");
    namespace.run("sysctl", "-qw", `net.ipv4.tcp_congestion_control=${UNPACED}`);
    return namespace;
  }

  /** Where other programs find it. */
  get path(): string {
    return this.#namespace.path;
  }

  /** Runs a program to its end. @returns what it printed */
  run(program: string, ...args: readonly string[]): string {
    const options = { encoding: "utf8", maxBuffer: MAX_BYTES } as const;
    return this.#namespace.run(() => execFileSync(...mortal(program, args), options));
  }

  /** How long a program runs there, in milliseconds. @param stdin what it reads */
  timeMs(program: string, args: readonly string[], stdin = ""): number {
    const start = performance.now();
    this.#namespace.run(() =>
      execFileSync(...mortal(program, args), {
        input: stdin,
        stdio: ["pipe", "ignore", "inherit"],
      }),
    );
    return performance.now() - start;
  }

  /**
   * The same, at most: what has not ended by then is killed, and not waited for, since the kernel may be
   * busy with it for minutes. @returns undefined where it was
   */
  async timeWithin(
    limitMs: number,
    program: string,
    args: readonly string[],
  ): Promise<number | undefined> {
    const start = performance.now();
    const child = this.#namespace.run(() =>
      spawn(...mortal(program, args), { stdio: ["ignore", "ignore", "inherit"] }),
    );
    const limit = new AbortController();
    const ended = once(child, "exit");
    const isOver = await Promise.race([
      ended.then(() => true),
      delay(limitMs, false, { signal: limit.signal }).catch(() => false),
    ]);
    const elapsedMs = performance.now() - start;
    limit.abort();
    if (!isOver) {
      child.kill("SIGKILL");
      child.unref();
      return undefined;
    }
    if (child.exitCode !== 0) throw new Error(`${program} ${args.join(" ")} failed`);
    return elapsedMs;
  }

  /** Starts a program that the caller ends. */
  start(program: string, ...args: readonly string[]): Started {
    const child = this.#namespace.run(() => spawn(...mortal(program, args), { stdio: "ignore" }));
    return { pid: child.pid ?? 0, stop: () => void child.kill("SIGTERM") };
  }

  /** Starts a task that stays; settles with its first line. */
  async startTask(
    task: URL,
    args: readonly string[],
  ): Promise<Started & { readonly line: string }> {
    const name = fileURLToPath(task);
    const child = this.#namespace.run(() =>
      spawn(...mortal(process.execPath, [name, ...args]), { stdio: ["ignore", "pipe", "inherit"] }),
    );
    const ended = once(child, "exit").then(() => Promise.reject(new Error(`${name} ended`)));
    const [line] = await Promise.race([once(createInterface(child.stdout), "line"), ended]);
    ended.catch(() => undefined);
    return { pid: child.pid ?? 0, stop: () => void child.kill("SIGTERM"), line: String(line) };
  }

  /** @param before what starts it, with its arguments */
  runTask(task: URL, args: readonly string[], before: readonly string[] = []): Promise<unknown> {
    return this.#namespace.run(() => runTask(task, args, [...MORTAL, ...before], TASK_LIMIT_MS));
  }

  remove(): void {
    this.#namespace.close();
  }
}

/** setpriv(1): what is started so ends with who started it, however that ends. */
const MORTAL: readonly string[] = ["setpriv", "--pdeathsig", "TERM"];

function mortal(program: string, args: readonly string[]): [string, readonly string[]] {
  const [first = "", ...rest] = MORTAL;
  return [first, [...rest, program, ...args]];
}

/** Runs a program that finds namespaces by their paths to its end. @returns what it printed */
export async function runMortal(program: string, args: readonly string[]): Promise<string> {
  const options = { encoding: "utf8", maxBuffer: MAX_BYTES, timeout: TASK_LIMIT_MS } as const;
  const { stdout } = await promisify(execFile)(...mortal(program, args), options);
  return stdout;
}

/** A cable between two namespaces; the second one is the way to everywhere for the first. */
export function join(
  from: Namespace,
  to: Namespace,
  { number, network = "10.250" }: { readonly number: number; readonly network?: string },
): { readonly near: string; readonly far: string } {
  const [near, far] = [`${network}.${number}.1`, `${network}.${number}.2`];
  const [out, into] = [`out${number}`, `in${number}`];
  ip(
    "link",
    "add",
    out,
    "netns",
    from.path,
    "type",
    "veth",
    "peer",
    "name",
    into,
    "netns",
    to.path,
  );
  from.run("ip", "address", "add", `${near}/24`, "dev", out);
  to.run("ip", "address", "add", `${far}/24`, "dev", into);
  from.run("ip", "link", "set", out, "up");
  to.run("ip", "link", "set", into, "up");
  from.run("ip", "route", "add", "default", "via", far);
  return { near, far };
}

function ip(...args: readonly string[]): void {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "inherit"] });
}
