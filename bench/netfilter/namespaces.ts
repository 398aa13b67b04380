import { execFileSync, spawn } from "node:child_process";
import { runTask } from "../support/child.ts";

/** A network namespace with a name, for as long as the benchmark runs. */
export class Namespace {
  readonly name: string;

  private constructor(name: string) {
    this.name = name;
  }

  /** @param role what tells it apart from the others of this benchmark */
  static create(role: string): Namespace {
    const namespace = new Namespace(`pbench-${process.pid}-${role}`);
    ip("netns", "add", namespace.name);
    namespace.run("ip", "link", "set", "lo", "up");
    return namespace;
  }

  /** Runs a program to its end. @returns what it printed */
  run(program: string, ...args: readonly string[]): string {
    const command = ["netns", "exec", this.name, program, ...args];
    return execFileSync("ip", command, { encoding: "utf8", maxBuffer: 1 << 28 });
  }

  /** How long a program runs there, in milliseconds. @param stdin what it reads */
  timeMs(program: string, args: readonly string[], stdin = ""): number {
    const start = performance.now();
    execFileSync("ip", ["netns", "exec", this.name, program, ...args], {
      input: stdin,
      stdio: ["pipe", "ignore", "inherit"],
    });
    return performance.now() - start;
  }

  /** Starts a program that the caller ends. */
  start(program: string, ...args: readonly string[]): { stop(): void } {
    const child = spawn("ip", ["netns", "exec", this.name, program, ...args], { stdio: "ignore" });
    return { stop: () => void child.kill("SIGTERM") };
  }

  runTask(task: URL, args: readonly string[]): Promise<unknown> {
    return runTask(task, args, ["ip", "netns", "exec", this.name]);
  }

  remove(): void {
    ip("netns", "del", this.name);
  }
}

/** A cable between two namespaces; the second one is the way to everywhere for the first. */
export function join(
  from: Namespace,
  to: Namespace,
  { number }: { readonly number: number },
): { readonly near: string; readonly far: string } {
  const [near, far] = [`10.250.${number}.1`, `10.250.${number}.2`];
  const [out, into] = [`out${number}`, `in${number}`];
  ip(
    "link",
    "add",
    out,
    "netns",
    from.name,
    "type",
    "veth",
    "peer",
    "name",
    into,
    "netns",
    to.name,
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
